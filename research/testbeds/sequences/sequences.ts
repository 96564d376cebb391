import { each } from '../each.ts'
import { dot } from '../vectors.ts'

export { dot } from '../vectors.ts'

/** Longest sequence, discount, standard deviation of the noise on both states, and steps of an episode. */
export const [longest, gamma, noise, horizon] = [8, 0.95, 0.05, 40]
/** A cart with friction on top of a flat hill, in steps of 0.1 s: place, speed and force to place and speed. */
export const dynamics = [
  [1, 0.1, 0],
  [0.02, 0.9, 0.3],
]
/** Cost of a step. */
export const cost = ([place, speed]: number[], force: number): number =>
  place ** 2 + 0.1 * speed ** 2 + 0.05 * force ** 2
/** A state, the action or the sequence of actions from there, its discounted cost, and the state afterwards. */
export type Step = { x: number[]; u: number[]; cost: number; next: number[] }

/** Solves rows * w = right, by elimination with pivots. */
function solve(rows: number[][], right: number[]): number[] {
  const m = rows.map((row, k) => [...row, right[k]])
  for (let c = 0; c < m.length; c++) {
    const pivot = each(m.length)
      .slice(c)
      .reduce((a, b) => (Math.abs(m[b][c]) > Math.abs(m[a][c]) ? b : a))
    ;[m[c], m[pivot]] = [m[pivot], m[c]]
    for (let r = 0; r < m.length; r++) {
      const factor = r === c ? 0 : m[r][c] / m[c][c]
      if (factor !== 0) for (let k = c; k <= m.length; k++) m[r][k] -= factor * m[c][k]
    }
  }
  return m.map((row, k) => row[m.length] / row[k])
}
/** Least squares with a little regularisation. */
export const regress = (rows: number[][], targets: number[], against = rows): number[] =>
  solve(
    rows[0].map((_, i) =>
      rows[0].map((_, j) => rows.reduce((t, row, r) => t + row[i] * against[r][j], i === j ? 1e-4 : 0)),
    ),
    rows[0].map((_, i) =>
      dot(
        rows.map((row) => row[i]),
        targets,
      ),
    ),
  )
const quadratic = (z: number[]): number[] => [1, ...z.flatMap((a, i) => z.slice(i).map((b) => a * b))]

/** Least-squares policy iteration: the gain of the greedy action (or sequence of actions) on the state. Nothing but data. */
export function iterate(steps: Step[], discount: number): number[][] {
  const m = steps[0].u.length
  let gain = each(m).map(() => [0, 0])
  const rows = steps.map(({ x, u }) => quadratic([...x, ...u]))
  for (let round = 0; round < 8; round++) {
    const future = steps.map(({ next }) => quadratic([...next, ...gain.map((row) => dot(row, next))]))
    const w = regress(
      rows,
      steps.map((step) => step.cost),
      rows.map((row, r) => row.map((v, k) => v - discount * future[r][k])),
    )
    const at = (i: number, j: number): number => {
      const [a, b] = i < j ? [i, j] : [j, i]
      return w[1 + a * (m + 2) - (a * (a - 1)) / 2 + b - a] * (i === j ? 2 : 1)
    }
    const own = each(m).map((i) => each(m).map((j) => at(i + 2, j + 2)))
    const columns = [0, 1].map((j) =>
      solve(
        own,
        each(m).map((i) => -at(i + 2, j)),
      ),
    )
    gain = each(m).map((i) => columns.map((column) => Math.max(-20, Math.min(20, column[i]))))
  }
  return gain
}

/** Gains of a sequence on its first state: the policy is followed through a model of the dynamics. */
export function unroll(gain: number[], model: number[][]): number[][] {
  let state = [
    [1, 0],
    [0, 1],
  ]
  return each(longest).map(() => {
    const action = [0, 1].map((j) => gain[0] * state[0][j] + gain[1] * state[1][j])
    state = model.map(([a, b, c]) => [0, 1].map((j) => a * state[0][j] + b * state[1][j] + c * action[j]))
    return action
  })
}

/** Expected cost of 40 steps if a decision is made every `every` steps, exactly, by the second moments of the state and of the last seen. */
export function exactCost(gains: number[][], every: number): number {
  let moments = [0, 1, 2, 3].map((i) => [0, 1, 2, 3].map((j) => Number(i % 2 === j % 2)))
  let total = 0
  for (let t = 0; t < horizon; t++) {
    if (t % every === 0) moments = moments.map((_, i) => moments.map((_, j) => moments[i % 2][j % 2]))
    const g = gains[t % every]
    const force = g.reduce(
      (sum, a, i) => sum + g.reduce((s, b, j) => s + a * b * moments[2 + i][2 + j], 0),
      0,
    )
    total += moments[0][0] + 0.1 * moments[1][1] + 0.05 * force
    const map = [...dynamics.map(([a, b, c]) => [a, b, c * g[0], c * g[1]]), [0, 0, 1, 0], [0, 0, 0, 1]]
    const left = map.map((row) =>
      each(4).map((j) =>
        dot(
          row,
          moments.map((line) => line[j]),
        ),
      ),
    )
    moments = map.map((_, i) => map.map((row, j) => dot(left[i], row) + (i === j && i < 2 ? noise ** 2 : 0)))
  }
  return total
}
