import { compileObjective, createAdam, createParameters, createRandom, mean, square, sub } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { mlpNetwork } from 'agoge/classic'
import { each } from '../each.ts'
import { dot } from '../vectors.ts'

export { dot } from '../vectors.ts'

const [side, actions, horizon] = [7, 4, 16]
/** Rows of a batch, and width of the representation. */
export const [batch, width] = [32, 16]
/** Number of weights of a policy. */
export const size = 3 * actions

/** A grid with a small reward near the start and a large one far off, in corners that the seed draws. */
export function grid(seed: number) {
  const turn = createRandom('corner', seed).int(4)
  const place = (x: number, y: number): number[] => each(turn).reduce(([a, b]) => [b, side - 1 - a], [x, y])
  const near = place(1, 2).join()
  const far = place(side - 1, side - 1).join()
  const reward = (cell: number[]): number => (cell.join() === far ? 1 : cell.join() === near ? 0.3 : 0)
  const clip = (v: number): number => Math.max(0, Math.min(side - 1, v))
  const moves = [
    [1, 0],
    [-1, 0],
    [0, 1],
    [0, -1],
  ]
  const cells = each(side * side).map((s) => [s % side, Math.floor(s / side)])
  const next = cells.map(([x, y]) => moves.map(([dx, dy]) => clip(x + dx) + side * clip(y + dy)))
  const [startX, startY] = place(0, 0)
  return { rewards: cells.map(reward), next, start: startX + side * startY, cells }
}
type Grid = ReturnType<typeof grid>

/** Chances of the actions in a cell, of a policy that is linear in the coordinates. */
function chances({ cells }: Grid, theta: ArrayLike<number>, s: number): number[] {
  const [x, y] = cells[s].map((value) => value / 3 - 1)
  const e = each(actions).map((a) =>
    Math.exp(4 * (theta[3 * a] * x + theta[3 * a + 1] * y + theta[3 * a + 2])),
  )
  const total = e.reduce((a, b) => a + b)
  return e.map((value) => value / total)
}

/** Expected return, exactly. */
export function exactReturn(map: Grid, theta: ArrayLike<number>): number {
  const policy = map.cells.map((_, s) => chances(map, theta, s))
  let at = map.cells.map((_, s) => Number(s === map.start))
  let total = 0
  for (let t = 0; t < horizon; t++) {
    const after = at.map(() => 0)
    for (let s = 0; s < at.length; s++)
      if (at[s] > 0) for (let a = 0; a < actions; a++) after[map.next[s][a]] += at[s] * policy[s][a]
    at = after
    total += dot(at, map.rewards)
  }
  return total
}

/** The return of one episode of 16 steps. */
export function playEpisode(map: Grid, theta: ArrayLike<number>, random: Random): number {
  let [s, total] = [map.start, 0]
  for (let t = 0; t < horizon; t++) {
    s = map.next[s][random.weighted(chances(map, theta, s))]
    total += map.rewards[s]
  }
  return total
}

/** Bayesian linear regression of returns on rows: a draw of the weights from their posterior, `spread` times as wide. */
export function posterior(rows: number[][], returns: number[], random: Random, spread: number): number[] {
  const k = rows[0].length
  const inverse = each(k).map((i) => each(k).map((j) => Number(i === j)))
  const sums = each(k).map((i) => rows.reduce((total, row, r) => total + row[i] * returns[r], 0))
  for (const row of rows) {
    const u = inverse.map((line) => dot(line, row))
    const scale = 1 / (1 + dot(u, row))
    for (let i = 0; i < k; i++) for (let j = 0; j < k; j++) inverse[i][j] -= scale * u[i] * u[j]
  }
  const lower = each(k).map(() => each(k).map(() => 0))
  for (let i = 0; i < k; i++)
    for (let j = 0; j <= i; j++) {
      const rest = inverse[i][j] - dot(lower[i].slice(0, j), lower[j].slice(0, j))
      lower[i][j] = i === j ? Math.sqrt(Math.max(rest, 1e-12)) : rest / lower[j][j]
    }
  const noise = each(k).map(() => random.normal())
  return inverse.map((line, i) => dot(line, sums) + spread * dot(lower[i], noise))
}

/** A network that learns the return of a policy from its weights; its hidden layer represents the policy. */
export async function representation(seed: number) {
  const network = mlpNetwork({ inputs: size, hidden: [width], outputs: 1 })
  const [shape, to] = [
    [batch, size],
    [batch, 1],
  ]
  const objective = await compileObjective({
    parameters: Object.fromEntries(Object.entries(network.specs).map(([name, spec]) => [name, spec.shape])),
    inputs: { x: { shape }, y: { shape: to } },
    trace: (weights, { x, y }) => ({ loss: mean(square(sub(network.trace(weights, x), y))) }),
  })
  const parameters = createParameters(network.specs, createRandom('network', seed))
  const adam = createAdam(parameters.data.length)
  const { '0.weight': weight, '0.bias': bias } = parameters.views
  const of = (theta: Float32Array): number[] => [
    1,
    ...each(width).map((k) => Math.tanh(bias[k] + dot(theta, weight.subarray(k * size, (k + 1) * size)))),
  ]
  async function train(played: [Float32Array, number][], random: Random): Promise<void> {
    const drawn = each(batch).map(() => random.pick(played))
    const x = Float32Array.from(drawn.flatMap(([theta]) => [...theta]))
    const y = Float32Array.from(drawn, ([, total]) => total)
    await objective.evaluate(parameters, { x: { data: x, shape }, y: { data: y, shape: to } })
    adam.step(parameters.data, objective.gradient.data, 0.003)
  }
  return { of, train, dispose: () => objective.dispose() }
}
