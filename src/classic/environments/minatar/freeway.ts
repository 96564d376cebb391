import { defineEnvironment, type EnvArrays, type EnvironmentRandom } from '../../environment/index.ts'
import {
  clearPlanes,
  executedAction,
  framesOf,
  last,
  moves,
  moveSpace,
  onBoard,
  type Planes,
  planeSpace,
  setCell,
  side,
  stickiness,
} from './shared.ts'

const planes: Planes = {
  chicken: ['@', '#e0b030'],
  car: ['C', '#c8452d'],
  speed1: ['1', '#7d3527'],
  speed2: ['2', '#6f3328'],
  speed3: ['3', '#623129'],
  speed4: ['4', '#552f2a'],
  speed5: ['5', '#482d2b'],
}

const cars = 8
/** The column of the chicken. */
const column = 4
/** Steps between two moves of the chicken. */
const rest = 3
const length = 2500

/** Where the state has what. Car k drives in row k + 1: its column, steps until it moves, cells of its period (negative: to the left). */
const at = { action: 0, y: 1, rest: 2, left: 3, x: 4, wait: 4 + cars, period: 4 + 2 * cars } as const
const stateSize = 4 + 3 * cars

/** New periods of all cars. Columns stay. */
function drawPeriods(state: Float64Array, s: number, random: EnvironmentRandom): void {
  for (let k = 0; k < cars; k++) state[s + at.wait + k] = 1 + random.integers(5)
  for (let k = 0; k < cars; k++)
    state[s + at.period + k] = state[s + at.wait + k] * (random.random() < 0.5 ? -1 : 1)
}

function observe(envs: EnvArrays, i: number): void {
  const { state, observations } = envs
  const s = i * stateSize
  const row = clearPlanes(envs, i)
  setCell(observations, row, 0, column, state[s + at.y])
  for (let k = 0; k < cars; k++) {
    const x = state[s + at.x + k]
    const period = state[s + at.period + k]
    setCell(observations, row, 1, x, k + 1)
    setCell(observations, row, 1 + Math.abs(period), (x + side - Math.sign(period)) % side, k + 1)
  }
}

/** Moves the cars that have waited long enough. A chicken that meets one goes back to the lowest row. */
function drive(state: Float64Array, s: number): void {
  for (let k = 0; k < cars; k++) {
    const hits = (): boolean => state[s + at.x + k] === column && state[s + at.y] === k + 1
    if (hits()) state[s + at.y] = last
    if (state[s + at.wait + k] > 0) {
      state[s + at.wait + k]--
      continue
    }
    const period = state[s + at.period + k]
    state[s + at.wait + k] = Math.abs(period)
    state[s + at.x + k] = (state[s + at.x + k] + side + Math.sign(period)) % side
    if (hits()) state[s + at.y] = last
  }
}

/**
 * MinAtar's Freeway (Young and Tian 2019). A chicken crosses eight lanes of cars, one row every three steps at most; a car that it meets
 * sends it back. Reward: 1 at the top, from where it begins again below, and the cars get new speeds and directions. The episode
 * ends after 2501 steps. Actions: none, left, up, right, down, fire; only none, up and down have an effect. Observation:
 * [7, 10, 10]: chicken, cars, and five planes with the cell behind each car, by the number of steps (1 to 5) that the car
 * waits before it moves.
 */
export const freeway = defineEnvironment({
  name: 'minatar-freeway',
  observation: planeSpace(planes),
  action: moveSpace,
  context: { stickiness },
  stateSize,
  reset({ state }, i, random) {
    const s = i * stateSize
    state.fill(0, s, s + stateSize)
    drawPeriods(state, s, random)
    state[s + at.y] = last
    state[s + at.rest] = rest
    state[s + at.left] = length
  },
  step(envs, i, random) {
    const { state, context, rewards, terminated } = envs
    const s = i * stateSize
    const action = executedAction(envs, i, s + at.action, context.stickiness[i], random)
    if (state[s + at.rest] === 0 && (action === moves.up || action === moves.down)) {
      state[s + at.rest] = rest
      state[s + at.y] = onBoard(state[s + at.y] + (action === moves.up ? -1 : 1))
    }
    rewards[i] = 0
    if (state[s + at.y] === 0) {
      rewards[i] = 1
      drawPeriods(state, s, random)
      state[s + at.y] = last
    }
    drive(state, s)
    if (state[s + at.rest] > 0) state[s + at.rest]--
    terminated[i] = --state[s + at.left] < 0 ? 1 : 0
  },
  observe,
  ...framesOf(planes, observe),
})
