import { defineMultiAgentEnvironment, discrete, invalidMove } from '../../environment/index.ts'

const agents = ['first', 'second']

/**
 * The two-step game (Rashid et al. 2018, "QMIX", section 6.1): the first agent's first action chooses the game of the
 * second step. Game A pays both 7 for everything; game B [[0, 1], [1, 8]]. Values that are sums over agents choose A
 * for 7; who can say that B is worth coordinating in gets 8. Both see where they are: 0 at first, 1 in A, 2 in B.
 */
export const twoStepGame = defineMultiAgentEnvironment({
  name: 'two-step-game',
  agents,
  observation: discrete(3),
  action: discrete(2),
  context: {
    safe: { default: 7, low: 5, high: 7.5, extrapolate: [2, 12], about: 'what game A pays' },
    best: { default: 8, low: 7.6, high: 10, extrapolate: [4, 20], about: 'the most that game B pays' },
  },
  stateSize: 1,
  reset({ state }, i) {
    state[i] = 0
  },
  step({ state, context, actions, rewards, terminated }, i) {
    const first = checkChoice(actions[i * 2], 0)
    const second = checkChoice(actions[i * 2 + 1], 1)
    const at = state[i]
    let reward = 0
    if (at === 1) reward = context[i * 2]
    if (at === 2) reward = first + second === 2 ? context[i * 2 + 1] : first + second
    rewards[i * 2] = reward
    rewards[i * 2 + 1] = reward
    terminated[i] = at === 0 ? 0 : 1
    if (at === 0) state[i] = first === 0 ? 1 : 2
  },
  observe({ state, observations }, i) {
    observations[i * 2] = state[i]
    observations[i * 2 + 1] = state[i]
  },
  text: ({ state }, i) => ['at the first step', 'in game A', 'in game B'][state[i]],
})

function checkChoice(action: number, agent: number): number {
  if (action === 0 || action === 1) return action
  throw invalidMove('two-step-game', agents[agent], action, '0, 1')
}
