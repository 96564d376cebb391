import type { Device } from './device.ts'
import type { DType, Dim, HostData, Shape } from '../types.ts'

export type OnnxAttribute =
  | { int: number }
  | { float: number }
  | { ints: readonly number[] }
  | { string: string }

/** What an operator's lowering may do. Values are referred to by name. */
export interface LowerContext {
  /** Where the program is to run. */
  readonly device: Device
  /** Adds a node with one output and returns the output's name. */
  emit(
    type: string,
    inputs: readonly string[],
    attributes?: Readonly<Record<string, OnnxAttribute>>,
    domain?: 'com.microsoft',
  ): string
  /** The same for a node with so many outputs. Asked again for the same, it gives those of the node that is there. */
  emitAll(count: number, ...what: Parameters<LowerContext['emit']>): readonly string[]
  /** A constant tensor. */
  initializer(data: HostData, shape: readonly number[], dtype: DType): string
  /** A constant of 64-bit integers of shape [values.length], or a scalar. */
  int64(values: readonly number[], scalar?: boolean): string
  /** A concrete shape at run time: int64 [shape.length]. */
  shapeTensor(shape: Shape): string
  /** A size at run time as an int64 scalar. */
  size(dim: Dim): string
}
