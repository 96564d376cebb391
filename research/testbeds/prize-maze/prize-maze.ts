import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { each } from '../each.ts'
import { dot } from '../vectors.ts'

export { dot } from '../vectors.ts'

/** Turns of a policy, pixels along a side of the image of the end, and distance from a prize that is rewarded. */
export const [segments, pixels, radius] = [12, 8, 0.06]
const clip = (v: number): number => Math.max(0, Math.min(1, v))

/** A maze of two walls with a gap each, and three prizes, drawn by the seed. */
export function maze(seed: number) {
  const random = createRandom('maze', seed)
  const walls = [1 / 3, 2 / 3].map((x) => ({ x, gap: 0.15 + 0.7 * random.next() }))
  const prizes = [0.17, 0.5, 0.83].map((x) => [x + 0.1 * (random.next() - 0.5), random.next()])
  prizes[0][1] = random.next() < 0.5 ? 0.95 : 0.05
  // What each pixel of the image shows of a place: overlapping spots, mixed at random and squashed, as a camera might.
  const mix = each(pixels ** 2).map(() => each(pixels ** 2).map(() => random.normal() / pixels))
  return { walls, prizes, mix }
}
/** A maze. */
export type Maze = ReturnType<typeof maze>

/** Where a policy ends: 12 moves from the middle of the left side. A move into a wall goes on along it. */
export function end({ walls }: Maze, policy: readonly number[]): [number, number] {
  let [x, y] = [0.05, 0.5]
  for (let step = 0; step < segments * 4; step++) {
    const k = 2 * Math.floor(step / 4)
    const nextX = clip(x + 0.03 * Math.tanh(policy[k]))
    const nextY = clip(y + 0.03 * Math.tanh(policy[k + 1]))
    const hit = walls.some(
      (wall) => (x - wall.x) * (nextX - wall.x) <= 0 && Math.abs(nextY - wall.gap) > 0.08,
    )
    if (!hit) x = nextX
    y = nextY
  }
  return [x, y]
}
/** What a camera shows of a place [pixels squared]. */
export function image({ mix }: Maze, [x, y]: [number, number]): number[] {
  const spots = each(pixels ** 2).map((k) => {
    const [u, v] = [(k % pixels) / (pixels - 1), Math.floor(k / pixels) / (pixels - 1)]
    return Math.exp(-((x - u) ** 2 + (y - v) ** 2) / 0.03)
  })
  return mix.map((row) => Math.tanh(row.reduce((sum, w, k) => sum + w * spots[k], 0)))
}
/** What each prize gives at a place: 1 at its middle, 0 from the radius on. */
export const rewards = ({ prizes }: Maze, [x, y]: [number, number]): number[] =>
  prizes.map(([u, v]) => Math.max(0, 1 - Math.hypot(x - u, y - v) / radius))

/** The directions of largest variance of images, which a linear autoencoder learns, by power iteration. */
export function encoder(images: number[][], size: number): (image: number[]) => number[] {
  const centre = images[0].map((_, k) => average(images.map((row) => row[k])))
  let rows = images.map((row) => row.map((v, k) => v - centre[k]))
  const axes = each(size).map((axis) => {
    let direction = centre.map((_, k) => Number(k === axis) + 0.1)
    for (let round = 0; round < 15; round++) {
      const sums = centre.map(() => 0)
      for (const row of rows) {
        const along = dot(row, direction)
        for (let k = 0; k < row.length; k++) sums[k] += along * row[k]
      }
      const length = Math.sqrt(dot(sums, sums)) || 1
      direction = sums.map((v) => v / length)
    }
    rows = rows.map((row) => {
      const along = dot(row, direction)
      return row.map((v, k) => v - along * direction[k])
    })
    return direction
  })
  return (image) => axes.map((axis) => dot(image, axis) - dot(centre, axis))
}
