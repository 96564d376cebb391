import { expect, test } from 'vitest'
import { createRandom } from '../../random/index.ts'
import { addInChunks, foldInChunks, unfoldInChunks } from './chunks.ts'

const random = createRandom('row-chunks')
const draw = (length: number): Float32Array => Float32Array.from({ length }, () => random.normal())
const near = (found: Float32Array, wanted: ArrayLike<number>): void =>
  found.forEach((value, i) =>
    expect(Math.abs(value - wanted[i])).toBeLessThan(2e-5 * (1 + Math.abs(wanted[i]))),
  )

test.each([1, 4, 101, 20_001])('sums of %d numbers', (length) => {
  const [target, source] = [draw(length), draw(length)]
  const wanted = target.map((value, i) => value + source[i])
  addInChunks(target, source)
  expect(target).toEqual(wanted)
})

// Rows of which one, many or none fit into a chunk.
test.each([
  [4, 3],
  [128, 352],
  [5000, 4],
  [12_000, 2],
])('rows of %d, %d of them', (width, rows) => {
  const [source, row, sum, before] = [width * rows, width, width * rows, width * rows].map(draw)
  const product = new Float32Array(width * rows)
  foldInChunks(product, source, row)
  expect(product).toEqual(source.map((value, i) => value * row[i % width]))

  const [gradient, ofRow] = [before.slice(), draw(width)]
  const wanted = Float64Array.from(ofRow)
  sum.forEach((value, i) => (wanted[i % width] += value * source[i]))
  unfoldInChunks(gradient, sum, source, row, ofRow)
  near(ofRow, wanted)
  near(
    gradient,
    before.map((value, i) => value + sum[i] * row[i % width]),
  )
})

test('a row whose length is not a multiple of four is refused', () => {
  expect(() => foldInChunks(draw(6), draw(6), draw(3))).toThrow(
    expect.objectContaining({ given: 3, expected: 'a multiple of four' }),
  )
})
