import {
  actionValue,
  evaluatePolicy,
  finiteModel,
  fourRooms,
  generatedFrozenLake,
  sampleCategorical,
  startValue,
  valueIteration,
} from 'agoge/classic'
import type { FiniteModel } from 'agoge/classic'
import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { each } from '../each.ts'

/** Width of the observations of all tasks, and their number of actions. */
export const [inputs, actions] = [26, 4]
export const gamma = 0.95
const exact = { gamma, tolerance: 1e-3 }

/** A task with numbered states, which an agent sees as a row of zeros and ones. */
export interface SmallTask {
  name: string
  model: FiniteModel
  /** [states][inputs] */
  rows: number[][]
  /** Values of the best policy [states]. */
  values: Float64Array
  /** Value of the start: of the best policy, and of the best action that is always the same. */
  best: number
  base: number
}

/** Two numbers as ones at their places, of which the second has its places after those of the first. */
const pair = (first: number, firsts: number, second: number): number[] =>
  each(inputs).map((k) => Number(k === first || k === firsts + second))

const within = (value: number, most: number): number => Math.max(0, Math.min(most, value))

/** A cart on a line of 9 places with speeds of -3 to 3, pushed by -2, -1, 1 or 2 or, by chance, not at all. Costs 0.1 for each place from the middle. */
function cart(): FiniteModel {
  const pushes = [-2, -1, 1, 2]
  return finiteModel({
    states: 63,
    actions,
    start: each(63).map((state) => Number(state % 7 === 3) / 9),
    outcomes: (state, action) =>
      [0.8, 0.2].map((probability, k) => {
        const speed = within((state % 7) + (k === 0 ? pushes[action] : 0), 6)
        const place = within(Math.floor(state / 7) + speed - 3, 8)
        return {
          probability,
          state: 7 * place + speed,
          reward: -0.1 * Math.abs(place - 4),
          terminated: false,
        }
      }),
  })
}

/** A store of up to 19 items that orders 0, 3, 6 or 12. Demand is 0 to 8; a sale earns 10, an item kept costs 1, an order costs `fee`. */
function store(fee: number): FiniteModel {
  const orders = [0, 3, 6, 12]
  return finiteModel({
    states: 20,
    actions,
    start: 0,
    outcomes: (stock, action) =>
      each(9).map((demand) => {
        const full = within(stock + orders[action], 19)
        const state = Math.max(0, full - demand)
        const reward = 10 * (full - state) - state - (action === 0 ? 0 : fee)
        return { probability: 1 / 9, state, reward, terminated: false }
      }),
  })
}

function task(name: string, model: FiniteModel, see: (state: number) => number[]): SmallTask {
  const { values } = valueIteration(model, exact)
  const constant = each(actions).map((action) => valueOf(model, each(model.states).fill(action)))
  const rows = each(model.states).map(see)
  return { name, model, rows, values, best: startValue(model, values), base: Math.max(...constant) }
}

const valueOf = (model: FiniteModel, policy: ArrayLike<number>): number =>
  startValue(model, evaluatePolicy(model, policy, exact))

/**
 * Four tasks whose rewards differ in sign, scale and density: a slippery lake, four rooms, a cart and a store. Layout, goal and
 * costs are drawn from the seed.
 */
export function smallTasks(seed: number): SmallTask[] {
  const random = createRandom('small-tasks', seed)
  const lake = generatedFrozenLake('lake', 4).transitions({ layout: random.int(10_000), successRate: 0.8 })
  const rooms = fourRooms.transitions({ layout: random.int(1000), goal: random.int(100) })
  return [
    task('lake', lake, (s) => pair(Math.floor(s / 4), 4, s % 4)),
    task('rooms', rooms, (s) => pair(Math.floor(s / 13), 13, s % 13)),
    task('cart', cart(), (s) => pair(Math.floor(s / 7), 9, s % 7)),
    task('store', store(2 + random.int(20)), (s) => pair(s, 20, 0)),
  ]
}

/** Where a policy stands from the best action that is always the same (0, also for worse) to the best policy (1), exact. */
export const scoreOf = ({ model, best, base }: SmallTask, policy: ArrayLike<number>): number =>
  Math.max(0, (valueOf(model, policy) - base) / (best - base))

/** A state to start from. */
export const drawStart = ({ model }: SmallTask, random: Random): number =>
  sampleCategorical(model.start, 0, model.states, random.next())

/** A step, by its row in the model. */
export function drawStep({ model }: SmallTask, state: number, action: number, random: Random) {
  const at = state * actions + action
  const row = sampleCategorical(model.probabilities, model.offsets[at], model.offsets[at + 1], random.next())
  return { next: model.next[row], reward: model.rewards[row], terminated: model.terminated[row] === 1 }
}

/** Whether some action leads elsewhere. Walls and ends do not count. */
const canBeLeft = ({ offsets, next }: FiniteModel, state: number): boolean =>
  next.subarray(offsets[state * actions], offsets[(state + 1) * actions]).some((to) => to !== state)

/**
 * How much of the variance of the best values of actions a linear function of features explains, by least squares over all actions in
 * states that can be left, with a slight ridge.
 */
export function explained(
  { model, values }: SmallTask,
  features: (state: number, action: number) => Iterable<number>,
): number {
  const states = each(model.states).filter((state) => canBeLeft(model, state))
  const pairs = states.flatMap((state) => each(actions).map((action) => [state, action] as const))
  const targets = pairs.map(([state, action]) => actionValue(model, values, state, action, gamma))
  const middle = average(targets)
  const rows = pairs.map(([state, action]) => [...features(state, action), 1])
  const n = rows[0].length
  const gram = each(n).map((i) =>
    each(n).map((j) => rows.reduce((sum, row) => sum + row[i] * row[j], i === j ? 1e-3 : 0)),
  )
  const right = each(n).map((i) => rows.reduce((sum, row, at) => sum + row[i] * (targets[at] - middle), 0))
  for (let i = 0; i < n; i++)
    for (let k = i + 1; k < n; k++) {
      const factor = gram[k][i] / gram[i][i]
      for (let j = i; j < n; j++) gram[k][j] -= factor * gram[i][j]
      right[k] -= factor * right[i]
    }
  const weights = each(n).map(() => 0)
  for (let i = n - 1; i >= 0; i--)
    weights[i] = (right[i] - weights.reduce((sum, weight, j) => sum + weight * gram[i][j], 0)) / gram[i][i]
  const left = rows.map(
    (row, at) => targets[at] - middle - row.reduce((sum, x, i) => sum + x * weights[i], 0),
  )
  return (
    1 - average(left.map((error) => error ** 2)) / average(targets.map((target) => (target - middle) ** 2))
  )
}
