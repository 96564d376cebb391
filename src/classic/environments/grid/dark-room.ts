import { defineEnvironment, discrete } from '../../environment/index.ts'
import type { FiniteDefinition } from '../../environment/index.ts'
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
