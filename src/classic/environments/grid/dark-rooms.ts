import { defineEnvironment, discrete } from '../../environment/index.ts'
import type { FiniteDefinition, EnvArrays } from '../../environment/index.ts'
import { directionX, directionY, slipFeature, withSlip } from './shared/board.ts'
import { roomDrawing, roomText } from './shared/frames.ts'
import { slipMix, sweptModel } from './shared/exact.ts'

/**
 * Dark Room (Laskin et al. 2022, "In-context Reinforcement Learning with Algorithm Distillation"): an empty
 * grid with an invisible goal. The agent starts in the centre and observes the number of its cell (y * size +
 * x). Reward: 1 for every step that ends on the goal. Actions: up, right, down, left, stay. The context is the
 * goal (x to the right, y down).
 */
export const createDarkRoom = (size: number, maxSteps: number, name = `dark-room-${size}`) => {
  const goal = { default: 0, low: 0, high: size - 1, integer: true } as const
  const centre = size >> 1
  const definition = defineEnvironment({
    name,
    observation: discrete(size * size),
    action: discrete(5),
    context: {
      goalX: { ...goal, about: 'column of the goal' },
      goalY: { ...goal, about: 'row of the goal' },
      slip: slipFeature,
    },
    stateSize: 2,
    maxSteps,
    reset({ state }, i) {
      state[i * 2] = centre
      state[i * 2 + 1] = centre
    },
    step({ state, context, actions, rewards, terminated }, i, random) {
      const s = i * 2
      const action = withSlip(actions[i], context.slip[i], random)
      state[s] = Math.min(size - 1, Math.max(0, state[s] + directionX[action]))
      state[s + 1] = Math.min(size - 1, Math.max(0, state[s + 1] + directionY[action]))
      rewards[i] = state[s] === context.goalX[i] && state[s + 1] === context.goalY[i] ? 1 : 0
      terminated[i] = 0
    },
    observe({ state, observations }, i) {
      observations[i] = state[i * 2 + 1] * size + state[i * 2]
    },
    text: ({ state, context }, i) =>
      roomText(size, [
        ['G', context.goalX[i], context.goalY[i]],
        ['@', state[i * 2], state[i * 2 + 1]],
      ]),
    draw: ({ state, context }, i) =>
      roomDrawing(size, [
        ['#3a9d5d', context.goalX[i], context.goalY[i]],
        ['#c8452d', state[i * 2], state[i * 2 + 1]],
      ]),
  })
  const finite: FiniteDefinition<typeof definition.context> = {
    ...definition,
    transitions: (context = {}) =>
      sweptModel(definition, {
        context: { ...context, slip: 0 },
        states: size * size,
        start: centre * size + centre,
        place(state, number) {
          state[0] = number % size
          state[1] = Math.floor(number / size)
          return true
        },
        mix: slipMix(context.slip ?? 0),
      }),
  }
  return finite
}

/** 9x9, 20 steps. A policy that knows the goal has a mean return of 16.54 over all goals. */
export const darkRoom = createDarkRoom(9, 20, 'dark-room')
/** 5x5, 20 steps. A policy that knows the goal has a mean return of 18.56. */
export const darkRoom5 = createDarkRoom(5, 20)
/** 3x3, 5 steps. A policy that knows the goal has a mean return of 4.56. */
export const darkRoom3 = createDarkRoom(3, 5)

const size = 9
const place = { low: 0, high: size - 1, integer: true } as const

/**
 * Dark Key-to-Door (Laskin et al. 2022, "In-context Reinforcement Learning with Algorithm Distillation"): an
 * empty 9x9 grid with a hidden key and a hidden door. The agent starts anywhere and observes the number of its
 * cell. Reward: 1 for the key, then 1 for the door, which ends the episode. Actions: up, right, down, left,
 * stay.
 */
export const darkKeyDoor = defineEnvironment({
  name: 'dark-key-door',
  observation: discrete(size * size),
  action: discrete(5),
  context: {
    keyX: { ...place, default: 1, about: 'column of the key' },
    keyY: { ...place, default: 1, about: 'row of the key' },
    doorX: { ...place, default: 7, about: 'column of the door' },
    doorY: { ...place, default: 7, about: 'row of the door' },
    slip: slipFeature,
  },
  stateSize: 3,
  maxSteps: 50,
  reset({ state }, i, random) {
    state[i * 3] = random.integers(size)
    state[i * 3 + 1] = random.integers(size)
    state[i * 3 + 2] = 0
  },
  step({ state, context, actions, rewards, terminated }, i, random) {
    const s = i * 3
    const action = withSlip(actions[i], context.slip[i], random)
    const x = Math.min(size - 1, Math.max(0, state[s] + directionX[action]))
    const y = Math.min(size - 1, Math.max(0, state[s + 1] + directionY[action]))
    state[s] = x
    state[s + 1] = y
    rewards[i] = 0
    terminated[i] = 0
    if (state[s + 2] === 0 && x === context.keyX[i] && y === context.keyY[i]) {
      state[s + 2] = 1
      rewards[i] = 1
    }
    // If key and door share a cell, one step reaches both.
    if (state[s + 2] === 1 && x === context.doorX[i] && y === context.doorY[i]) {
      rewards[i] += 1
      terminated[i] = 1
    }
  },
  observe({ state, observations }, i) {
    observations[i] = state[i * 3 + 1] * size + state[i * 3]
  },
  text: (envs, i) => roomText(size, marks(envs, i, 'k', '+', '@')),
  draw: (envs, i) => roomDrawing(size, marks(envs, i, '#d9a514', '#8a5a2b', '#c8452d')),
})

function marks(
  { state, context }: EnvArrays,
  i: number,
  key: string,
  door: string,
  agent: string,
): (readonly [string, number, number])[] {
  const here = [agent, state[i * 3], state[i * 3 + 1]] as const
  const there = [door, context.doorX[i], context.doorY[i]] as const
  return state[i * 3 + 2] === 1 ? [there, here] : [[key, context.keyX[i], context.keyY[i]], there, here]
}
