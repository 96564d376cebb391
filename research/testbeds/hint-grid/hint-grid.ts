import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { each } from '../each.ts'

const side = 10
/** Steps of an episode, discount, and numbers of cells and actions. */
export const [horizon, gamma, cells, actions] = [50, 0.95, side * side, 4]
const place = (cell: number): [number, number] => [cell % side, Math.floor(cell / side)]
const distance = (a: number, b: number): number => {
  const [[x, y], [u, v]] = [place(a), place(b)]
  return Math.abs(x - u) + Math.abs(y - v)
}
const clip = (v: number): number => Math.max(0, Math.min(side - 1, v))
const moves = [
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1],
]
const next = each(cells).map((cell) => {
  const [x, y] = place(cell)
  return moves.map(([dx, dy]) => clip(x + dx) + side * clip(y + dy))
})

/** What a designer might reward a cell with: a cost of distance, closeness (which rewards waiting near the goal), and by mistake distance itself. */
const heuristics = {
  distance: (cell: number, goal: number) => -distance(cell, goal) / 200,
  closeness: (cell: number, goal: number) => 0.1 - distance(cell, goal) / 200,
  misleading: (cell: number, goal: number) => distance(cell, goal) / 200,
}
/** Name of a heuristic. */
export type Kind = keyof typeof heuristics
/** All of them. */
export const kinds = Object.keys(heuristics) as Kind[]

/** A goal in the far corner, and a heuristic of cells. */
export function maze(seed: number, kind: Kind) {
  const random = createRandom('maze', seed)
  const goal = random.pick(each(cells).filter((cell) => distance(cell, 0) >= 14))
  return { goal, hint: each(cells).map((cell) => heuristics[kind](cell, goal)) }
}
/** A goal and what each cell is worth by the heuristic. */
export type Maze = ReturnType<typeof maze>

/** Probabilities of the actions in a cell. */
export function chances(theta: Float64Array, cell: number): number[] {
  const row = theta.subarray(cell * actions, (cell + 1) * actions)
  const most = Math.max(...row)
  const e = Array.from(row, (v) => Math.exp(v - most))
  const total = e.reduce((a, b) => a + b)
  return e.map((v) => v / total)
}

/** Expected discounted reward of the goal, exactly. */
export function exactReturn({ goal }: Maze, theta: Float64Array): number {
  const policy = each(cells).map((cell) => chances(theta, cell))
  let values = new Float64Array(cells)
  for (let t = 0; t < horizon; t++) {
    const later = values
    values = new Float64Array(cells)
    for (let cell = 0; cell < cells; cell++)
      for (let a = 0; a < actions; a++) {
        const to = next[cell][a]
        values[cell] += policy[cell][a] * (to === goal ? 1 : gamma * later[to])
      }
  }
  return values[0]
}

/** Cells, actions, and for each step the parts of its reward: primary and heuristic [steps][parts]. `chance` is the logarithm of the probability of all actions. */
export interface Episode {
  cells: number[]
  actions: number[]
  chance: number
  parts: number[][]
}
/** Plays an episode; with shaping, the heuristic is a potential. */
export function play(
  { goal, hint }: Maze,
  policy: readonly number[][],
  random: Random,
  shaping: boolean,
): Episode {
  const episode: Episode = { cells: [], actions: [], chance: 0, parts: [] }
  for (let t = 0, cell = 0; t < horizon && cell !== goal; t++) {
    const row = policy[cell]
    const action = random.weighted(row)
    const to = next[cell][action]
    const last = to === goal || t === horizon - 1
    const hinted = shaping ? (last ? 0 : gamma * hint[to]) - hint[cell] : hint[to]
    episode.cells.push(cell)
    episode.actions.push(action)
    episode.chance += Math.log(row[action])
    episode.parts.push([Number(to === goal), hinted])
    cell = to
  }
  return episode
}
