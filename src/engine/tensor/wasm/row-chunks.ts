import { AgogeError } from '../../../error.ts'
import { inChunks } from './chunks.ts'

/** target += source. */
export function addInChunks(target: Float32Array, source: Float32Array): void {
  inChunks({
    arrays: [target, source],
    written: [0],
    run: ({ add }, { arrays }, vectors) => add(...arrays, vectors),
  })
}

/**
 * target[r, i] = source[r, i] * row[i].
 *
 * @param row its length is a multiple of four
 */
export function foldInChunks(target: Float32Array, source: Float32Array, row: Float32Array): void {
  const width = vectorsOf(row)
  inChunks({
    arrays: [target, source],
    written: [0],
    rows: [row],
    run: ({ foldRows }, { arrays, rows }, vectors) => foldRows(...arrays, ...rows, width, vectors / width),
  })
}

/**
 * The pullback of `foldInChunks`, in single precision: gradient[r, i] += sum[r, i] * row[i], and ofRow[i] += the sum over r of
 * sum[r, i] * weights[r, i].
 */
export function unfoldInChunks(
  gradient: Float32Array,
  sum: Float32Array,
  weights: Float32Array,
  row: Float32Array,
  ofRow: Float32Array,
): void {
  const width = vectorsOf(row)
  inChunks({
    arrays: [gradient, sum, weights],
    written: [0],
    rows: [row, ofRow],
    run: ({ unfoldRows }, { arrays, rows }, vectors) =>
      unfoldRows(...arrays, ...rows, width, vectors / width),
  })
}

function vectorsOf({ length }: Float32Array): number {
  if (length > 0 && length % 4 === 0) return length / 4
  throw new AgogeError('a row that many are multiplied with has the wrong length', {
    code: 'bad-shape',
    given: length,
    expected: 'a multiple of four',
  })
}
