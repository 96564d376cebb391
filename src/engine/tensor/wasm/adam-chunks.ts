import { runAdam } from './adam-kernel.ts'
import type { AdamStep } from './adam-kernel.ts'
import { inChunks } from './chunks.ts'

/** The sum of squares of all numbers, added up in double precision. */
export function squaresInChunks(array: Float32Array): number {
  const pair = new Float64Array(2)
  inChunks({
    arrays: [array],
    written: [],
    rows: [new Float32Array(pair.buffer)],
    run: ({ squares }, { arrays, rows }, vectors) => squares(arrays[0], vectors, rows[0]),
  })
  return pair[0] + pair[1]
}

/** One step of Adam in single precision: parameters and both moments change in place. */
export function adamInChunks(
  parameters: Float32Array,
  gradient: Float32Array,
  first: Float32Array,
  second: Float32Array,
  step: AdamStep,
): void {
  inChunks({
    arrays: [parameters, gradient, first, second],
    written: [0, 2, 3],
    run: ({ adam }, at, vectors) => runAdam(adam, at.arrays, vectors, step),
  })
}
