import { defineEnvironment, discrete } from '../../environment/index.ts'
import type { EnvArrays } from '../../environment/index.ts'
import { directionX, directionY, slipFeature, withSlip } from './shared/board.ts'
import { roomDrawing, roomText } from './shared/frames.ts'

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
