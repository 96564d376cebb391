import { mostWeightCode } from './operators/quantised-matmul.ts'

/** Transposed in tiles of so many rows and columns, which stay in the nearest cache. */
const tile = 64

/**
 * Weights in 8 bits for `quantisedMatmul`, symmetric by output: matrix[o, i] is nearly codes[i, o] * scales[o], off by half a scale at
 * most. A row that holds something that is no number has a scale that is none.
 *
 * @param matrix [out, in], row by row
 * @param codes [in, out], from -64 to 64, written
 * @param scales [out], the largest magnitude of each row / 64, written
 */
export function quantiseMatrix(matrix: Float32Array, codes: Int8Array, scales: Float32Array): void {
  const outputs = scales.length
  const inner = matrix.length / outputs
  const factors = new Float32Array(tile)
  for (let start = 0; start < outputs; start += tile) {
    const end = Math.min(outputs, start + tile)
    for (let row = start; row < end; row++) {
      const most = largest(matrix, row * inner, (row + 1) * inner)
      scales[row] = most / mostWeightCode
      factors[row - start] = most > 0 ? mostWeightCode / most : 0
    }
    for (let first = 0; first < inner; first += tile) {
      const last = Math.min(inner, first + tile)
      for (let row = start; row < end; row++) {
        const factor = factors[row - start]
        const from = row * inner
        // To the nearest: what is cut off is of a number above zero.
        for (let i = first; i < last; i++)
          codes[i * outputs + row] = ((matrix[from + i] * factor + 128.5) | 0) - 128
      }
    }
  }
}

/** The largest magnitude, or NaN where there is one. */
function largest(matrix: Float32Array, from: number, to: number): number {
  let most = 0
  for (let i = from; i < to; i++) {
    const size = Math.abs(matrix[i])
    if (!(size <= most)) most = size
    if (most !== most) break
  }
  return most
}
