import type { ParameterSet, ParameterSpec } from '../nn/index.ts'
import type { Tensor } from '../tensor/index.ts'

/** A network over rows of numbers, once as traced operators for learning and once as plain loops for acting. */
export interface Network {
  readonly inputs: number
  readonly outputs: number
  readonly specs: Readonly<Record<string, ParameterSpec>>
  /** x [rows, inputs] to [rows, outputs]. */
  trace(parameters: Record<string, Tensor>, x: Tensor): Tensor
  /** The same into `out` [rows, outputs], at once: a call of the runtime costs more than small networks do. */
  forward(parameters: ParameterSet, x: Float32Array, rows: number, out: Float32Array): void
}
