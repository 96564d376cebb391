import { expect, test } from 'vitest'
import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { each } from '../each.ts'
import { dot, encoder, end, image, maze, rewards, segments } from './prize-maze.ts'

const still = each(2 * segments).map(() => 0)
const right = still.map((_, k) => (k % 2 === 0 ? 100 : 0))

test('a policy stays in the maze, and passes a wall in its gap alone', () => {
  const map = maze(1)
  const random = createRandom('policies', 1)
  const walls = [
    { x: 1 / 3, gap: 0.5 },
    { x: 2 / 3, gap: 0.9 },
  ]
  expect(end(map, still)).toEqual([0.05, 0.5])
  const [x, y] = end({ ...map, walls }, right)
  expect([x > 2 / 3 - 0.031 && x < 2 / 3, y]).toEqual([true, 0.5])
  expect(end({ ...map, walls: [] }, right)).toEqual([1, 0.5])
  const closed = { ...map, walls: [{ x: 1 / 3, gap: 9 }] }
  for (const policy of each(200).map(() => still.map(() => 3 * random.normal()))) {
    for (const v of end(map, policy)) expect(v >= 0 && v <= 1).toBe(true)
    expect(end(closed, policy)[0]).toBeLessThan(1 / 3)
  }
})

test('a prize gives 1 in its middle and falls to 0 at its radius', () => {
  const map = maze(2)
  const [u, v] = map.prizes[1]
  expect(rewards(map, [u, v])).toEqual([0, 1, 0])
  expect(rewards(map, [u + 0.03, v])[1]).toBeCloseTo(0.5, 9)
  expect(rewards(map, [u, v + 0.061])[1]).toBe(0)
  expect(maze(2)).toEqual(map)
  expect(maze(3).prizes).not.toEqual(map.prizes)
})

test('near places look alike', () => {
  const map = maze(1)
  const [here, near, far] = (
    [
      [0.3, 0.4],
      [0.31, 0.4],
      [0.7, 0.6],
    ] as [number, number][]
  ).map((place) => image(map, place))
  const gap = (other: number[]): number => Math.hypot(...here.map((v, k) => v - other[k]))
  expect(gap(near)).toBeLessThan(0.2 * gap(far))
  expect(Math.max(...here.map(Math.abs))).toBeLessThan(1)
})

test('codes are the coordinates of largest variance, uncorrelated', () => {
  const random = createRandom('images', 1)
  // Spreads of 3, 2 and 1 along directions at right angles.
  const axes = [
    [1, 1, 1, 1],
    [1, -1, 1, -1],
    [1, 1, -1, -1],
  ].map((row) => row.map((v) => v / 2))
  const images = each(400).map(() => {
    const parts = [3, 2, 1].map((spread) => spread * random.normal())
    return each(4).map((k) => 5 + parts.reduce((sum, part, a) => sum + part * axes[a][k], 0))
  })
  const codes = images.map(encoder(images, 2))
  const product = (a: number, b: number): number => average(codes.map((code) => code[a] * code[b]))
  for (const a of [0, 1]) {
    const along = images.map((row) => dot(row, axes[a]))
    const variance = average(along.map((v) => (v - average(along)) ** 2))
    expect(product(a, a) / variance).toBeCloseTo(1, 1)
    expect(average(codes.map((code) => code[a]))).toBeCloseTo(0, 9)
  }
  expect(product(0, 1)).toBeCloseTo(0, 2)
})
