import { AgogeError } from '../../../error.ts'
import { defineEnvironment, discrete, finiteModel, sampleCategorical } from '../../environment/index.ts'
import type {
  ContextSpace,
  FiniteModel,
  FiniteDefinition,
  TransitionOutcome,
} from '../../environment/index.ts'
import { threeWays } from '../../environment/finite-model.ts'

const map = [
  '+---------+',
  '|R: | : :G|',
  '| : | : : |',
  '| : : : : |',
  '| | : | : |',
  '|Y| : |B: |',
  '+---------+',
]
/** The cells of R, G, Y and B. */
const stops = [0, 4, 20, 23]
const stopNames = 'RGYB'
const aboard = 4
const states = 500
/** [25, 4]: the neighbouring cell to the south, north, east and west, or the same cell if a wall blocks the way. */
const neighbours = Uint8Array.from({ length: 100 }, (_, k) => {
  const cell = k >> 2
  const row = Math.floor(cell / 5)
  const column = cell % 5
  const open = [row < 4, row > 0, map[row + 1][2 * column + 2] === ':', map[row + 1][2 * column] === ':'][
    k & 3
  ]
  return open ? cell + [5, -5, 1, -1][k & 3] : cell
})
/** The directions to the left and right of south, north, east and west. */
const leftOf = [2, 3, 1, 0]
const rightOf = [3, 2, 0, 1]

const start = Float64Array.from({ length: states }, (_, code) =>
  passengerOf(code) !== aboard && passengerOf(code) !== destinationOf(code) ? 1 / 300 : 0,
)

const context = {
  forwardRate: {
    default: 1,
    low: 0.7,
    high: 1,
    extrapolate: [0.4, 1],
    about: 'probability that a move goes forward, not to a side; below 1 it rains',
  },
  fickleRate: {
    default: 0,
    low: 0,
    high: 0.5,
    extrapolate: [0, 1],
    about: 'probability that the passenger wants to go elsewhere after the first move aboard',
  },
  stepReward: { default: -1, low: -2, high: -0.5, extrapolate: [-5, 0], about: 'of a step' },
  deliveryReward: {
    default: 20,
    low: 10,
    high: 30,
    extrapolate: [1, 50],
    about: 'of the drop-off that ends the ride',
  },
  illegalReward: {
    default: -10,
    low: -15,
    high: -5,
    extrapolate: [-20, -1],
    about: 'for a pick-up or drop-off that is not possible',
  },
} satisfies ContextSpace

const definition = defineEnvironment({
  name: 'taxi',
  observation: discrete(states),
  action: discrete(6),
  context,
  stateSize: 2,
  maxSteps: 200,
  reset({ state, context }, i, random) {
    const fickleRate = context.fickleRate[i]
    state[i * 2] = sampleCategorical(start, 0, states, random.random())
    state[i * 2 + 1] = fickleRate > 0 && random.random() < fickleRate ? 1 : 0
  },
  step({ state, context, actions, rewards, terminated }, i, random) {
    const s = i * 2
    const code = state[s]
    const action = actions[i]
    const draw = random.random()
    terminated[i] = 0
    if (action >= 4) {
      const next = handle(code, action)
      const delivered = action === 5 && next !== code && passengerOf(next) === destinationOf(next)
      state[s] = next
      rewards[i] =
        next === code
          ? context.illegalReward[i]
          : delivered
            ? context.deliveryReward[i]
            : context.stepReward[i]
      terminated[i] = delivered ? 1 : 0
      return
    }
    const cell = cellOf(code)
    let target = neighbours[cell * 4 + action]
    const side = (1 - context.forwardRate[i]) / 2
    const way = threeWays(context.forwardRate[i], side, side, draw)
    // With rain, the taxi does not move if the way forward is blocked.
    if (way !== 0 && target !== cell) target = neighbours[cell * 4 + (way === 1 ? leftOf : rightOf)[action]]
    let next = code + (target - cell) * 20
    if (state[s + 1] === 1 && passengerOf(code) === aboard && target !== cell) {
      state[s + 1] = 0
      const destination = destinationOf(code)
      const other = random.integers(3)
      next += (other < destination ? other : other + 1) - destination
    }
    state[s] = next
    rewards[i] = context.stepReward[i]
  },
  observe({ state, observations }, i) {
    observations[i] = state[i * 2]
  },
  mask({ state, actionMask }, i) {
    const code = state[i * 2]
    const cell = cellOf(code)
    const m = i * 6
    for (let action = 0; action < 4; action++)
      actionMask[m + action] = neighbours[cell * 4 + action] === cell ? 0 : 1
    actionMask[m + 4] = handle(code, 4) === code ? 0 : 1
    actionMask[m + 5] = handle(code, 5) === code ? 0 : 1
  },
  text({ state }, i) {
    const code = state[i * 2]
    const cell = cellOf(code)
    const passenger = passengerOf(code)
    const rows = map.map((row) => row.split(''))
    rows[Math.floor(cell / 5) + 1][(cell % 5) * 2 + 1] = passenger === aboard ? '@' : 'T'
    const where = passenger === aboard ? 'aboard' : `at ${stopNames[passenger]}`
    return `${rows.map((row) => row.join('')).join('\n')}\npassenger ${where}, to ${stopNames[destinationOf(code)]}`
  },
})

/**
 * Fetch a passenger at one of four stops and bring them to another (Dietterich 2000). Equal step for step and
 * draw for draw to Gymnasium 1.3's Taxi-v4. The context sets rain and fickle passengers. Actions: south, north,
 * east, west, pick up, drop off; the mask allows those that change the state. Observation: ((row * 5 + column)
 * * 5 + passenger) * 4 + destination. The stops are R, G, Y, B; passenger 4 is aboard. State: this number, and
 * 1 if the passenger will change their mind, which is not observed. `transitions` throws `no-model` for a
 * fickleRate above 0.
 */
export const taxi: FiniteDefinition<typeof context> = { ...definition, transitions }

function transitions({
  forwardRate = context.forwardRate.default,
  fickleRate = context.fickleRate.default,
  stepReward = context.stepReward.default,
  deliveryReward = context.deliveryReward.default,
  illegalReward = context.illegalReward.default,
}: Partial<Record<string, number>> = {}): FiniteModel {
  if (fickleRate > 0) {
    throw new AgogeError('a taxi with fickle passengers has no model over what is observed', {
      code: 'no-model',
      given: { fickleRate },
      expected: 'fickleRate 0',
      hint: 'whether a passenger will change their mind is hidden',
    })
  }
  const side = (1 - forwardRate) / 2
  return finiteModel({
    states,
    actions: 6,
    start,
    outcomes(code, action) {
      if (action >= 4) {
        const state = handle(code, action)
        const terminated = action === 5 && state !== code && passengerOf(state) === destinationOf(state)
        const reward = state === code ? illegalReward : terminated ? deliveryReward : stepReward
        return [{ probability: 1, state, reward, terminated }]
      }
      const cell = cellOf(code)
      const move = (probability: number, direction: number): TransitionOutcome => ({
        probability,
        state: code + (neighbours[cell * 4 + direction] - cell) * 20,
        reward: stepReward,
        terminated: false,
      })
      if (forwardRate === 1) return [move(1, action)]
      const shut = neighbours[cell * 4 + action] === cell
      return [
        move(forwardRate, action),
        move(side, shut ? action : leftOf[action]),
        move(side, shut ? action : rightOf[action]),
      ]
    },
  })
}

/** The state after pick up (4) or drop off (5). It is unchanged if the action is not possible. */
function handle(code: number, action: number): number {
  const cell = cellOf(code)
  const passenger = passengerOf(code)
  if (action === 4) {
    return passenger !== aboard && stops[passenger] === cell ? code + (aboard - passenger) * 4 : code
  }
  const stop = stops.indexOf(cell)
  return passenger === aboard && stop >= 0 ? code + (stop - aboard) * 4 : code
}

function cellOf(code: number): number {
  return (code / 20) | 0
}

function passengerOf(code: number): number {
  return ((code / 4) | 0) % 5
}

function destinationOf(code: number): number {
  return code % 4
}
