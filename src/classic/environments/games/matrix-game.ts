import { defineMultiAgentEnvironment, discrete, invalidMove } from '../../environment/index.ts'
import type { ContextSpace, MultiAgentDefinition } from '../../environment/index.ts'

interface MatrixGame<C extends ContextSpace> {
  name: string
  /** Choices of each of the two. */
  choices: number
  context: C
  /** What an agent (0 or 1) gets for the actions of both; `context` from `c` on has the features in order. */
  payoff: (context: Float64Array, c: number, agent: 0 | 1, first: number, second: number) => number
  /** Each sees what both did last, its own first (1 + own * choices + other's; 0 at the beginning). Default false. */
  remember?: boolean
}

/** Two agents act at once, again and again for 25 steps, and are paid by a table. State: what both did last. */
export function createMatrixGame<C extends ContextSpace>(game: MatrixGame<C>): MultiAgentDefinition<C> {
  const { name, choices, context, payoff, remember = false } = game
  const features = Object.keys(context).length
  const agents = ['first', 'second']
  return defineMultiAgentEnvironment({
    name,
    agents,
    observation: discrete(remember ? 1 + choices * choices : 1),
    action: discrete(choices),
    context,
    stateSize: 2,
    maxSteps: 25,
    reset({ state }, i) {
      state[i * 2] = -1
      state[i * 2 + 1] = -1
    },
    step({ state, context, actions, rewards, terminated }, i) {
      const first = actions[i * 2]
      const second = actions[i * 2 + 1]
      checkChoice(first, 0)
      checkChoice(second, 1)
      state[i * 2] = first
      state[i * 2 + 1] = second
      rewards[i * 2] = payoff(context, i * features, 0, first, second)
      rewards[i * 2 + 1] = payoff(context, i * features, 1, first, second)
      terminated[i] = 0
    },
    observe({ state, observations }, i) {
      const first = state[i * 2]
      const second = state[i * 2 + 1]
      const known = remember && first >= 0
      observations[i * 2] = known ? 1 + first * choices + second : 0
      observations[i * 2 + 1] = known ? 1 + second * choices + first : 0
    },
    text: ({ state, rewards }, i) =>
      state[i * 2] < 0
        ? 'nothing played'
        : agents.map((agent, k) => `${agent} ${state[i * 2 + k]} (${rewards[i * 2 + k]})`).join('   '),
  })

  function checkChoice(action: number, agent: number): void {
    if (Number.isInteger(action) && action >= 0 && action < choices) return
    throw invalidMove(name, agents[agent], action, `0 to ${choices - 1}`)
  }
}
