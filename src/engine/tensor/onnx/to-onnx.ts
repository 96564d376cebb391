import type { InputSpec } from '../compile.ts'
import { input } from '../operators/input.ts'
import { simplify } from '../simplify.ts'
import type { Tensor } from '../types.ts'
import { lowerToOnnx } from './lower.ts'

/**
 * A traced function as an ONNX model (operator set 21) that runs wherever ONNX Runtime does: what it needs beside its inputs has to be
 * constants. Inputs and outputs have the names of the records; symbols in shapes are dimensions that may be of any size.
 */
export function toOnnx(
  name: string,
  inputs: Readonly<Record<string, InputSpec>>,
  build: (inputs: Record<string, Tensor>) => Readonly<Record<string, Tensor>>,
): Uint8Array {
  const traced = Object.fromEntries(
    Object.entries(inputs).map(([key, { shape, dtype }]) => [key, input(key, shape, dtype)]),
  )
  const built = build(traced)
  const names = Object.keys(built)
  const outputs = simplify(Object.values(built))
  return lowerToOnnx(name, traced, Object.fromEntries(names.map((key, i) => [key, outputs[i]])), 'cpu', '')
}
