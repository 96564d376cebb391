import { AgogeError } from '../../../error.ts'
import { defineMultiAgentEnvironment, discrete } from '../../environment/index.ts'
import type { AgentArrays, ContextSpace, MultiAgentDefinition } from '../../environment/index.ts'

interface MatrixGame<C extends ContextSpace> {
  name: string
  /** Number of choices of each agent. */
  choices: number
  context: C
  /** The reward of an agent (0 or 1) for the actions of both in environment i. */
  payoff: (
    context: AgentArrays<C>['context'],
    i: number,
    agent: 0 | 1,
    first: number,
    second: number,
  ) => number
  /** Whether both agents observe the last actions: 1 + own * choices + other's, or 0 at the beginning. Default: false. */
  remember?: boolean
}

/**
 * Two agents act simultaneously for 25 steps and get rewards from a table. State: the last actions of both.
 *
 * @throws AgogeError `invalid-action` from a step with an invalid choice
 */
export function createMatrixGame<C extends ContextSpace>(game: MatrixGame<C>): MultiAgentDefinition<C> {
  const { name, choices, context, payoff, remember = false } = game
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
      rewards[i * 2] = payoff(context, i, 0, first, second)
      rewards[i * 2 + 1] = payoff(context, i, 1, first, second)
      terminated[i] = 0
    },
    observe({ state, observations }, i) {
      const first = state[i * 2]
      const second = state[i * 2 + 1]
      const known = remember && first >= 0
      observations[i * 2] = known ? 1 + first * choices + second : 0
      observations[i * 2 + 1] = known ? 1 + second * choices + first : 0
    },
  })

  function checkChoice(action: number, agent: number): void {
    if (Number.isInteger(action) && action >= 0 && action < choices) return
    throw new AgogeError(`${agents[agent]} may not do ${action} in ${name}`, {
      code: 'invalid-action',
      given: action,
      expected: `0 to ${choices - 1}`,
    })
  }
}

/**
 * The repeated prisoner's dilemma (Axelrod 1984). Action 0 cooperates, action 1 defects. Each agent observes
 * the last actions of both.
 */
export const prisonersDilemma = createMatrixGame({
  name: 'prisoners-dilemma',
  choices: 2,
  context: {
    temptation: {
      default: 5,
      low: 4,
      high: 6,
      extrapolate: [3.5, 8],
      about: 'for defecting from one who cooperates',
    },
    reward: { default: 3, low: 2.5, high: 3.5, extrapolate: [2, 4], about: 'when both cooperate' },
    punishment: { default: 1, low: 0.5, high: 2, extrapolate: [0, 2.5], about: 'when both defect' },
    sucker: {
      default: 0,
      low: -1,
      high: 0.5,
      extrapolate: [-3, 1],
      about: 'for cooperating with one who defects',
    },
  },
  remember: true,
  payoff(context, i, agent, first, second) {
    const [own, other] = agent === 0 ? [first, second] : [second, first]
    if (own === 0) return (other === 0 ? context.reward : context.sucker)[i]
    return (other === 0 ? context.temptation : context.punishment)[i]
  },
})

/** Rows are the actions of the first agent. NaN stands for the feature `penalty`. Default: -30. */
const climbingTable = [11, NaN, 0, NaN, 7, 6, 0, 0, 5]

/**
 * The climbing game (Claus & Boutilier 1998). Both agents get [[11, -30, 0], [-30, 7, 6], [0, 0, 5]]. The best
 * action is punished if only one agent chooses it, so independent learners converge to 5 or 7.
 */
export const climbing = createMatrixGame({
  name: 'climbing',
  choices: 3,
  context: {
    penalty: {
      default: -30,
      low: -40,
      high: -10,
      extrapolate: [-100, 0],
      about: 'if one agent chooses action 0 and the other action 1',
    },
  },
  payoff: (context, i, _, first, second) => {
    const value = climbingTable[first * 3 + second]
    return Number.isNaN(value) ? context.penalty[i] : value
  },
})

/** The penalty game (Claus & Boutilier 1998). Both agents get [[10, 0, k], [0, 2, 0], [k, 0, 10]]. */
export const penaltyGame = createMatrixGame({
  name: 'penalty',
  choices: 3,
  context: {
    penalty: {
      default: -25,
      low: -50,
      high: 0,
      extrapolate: [-100, 0],
      about: 'k, if the agents choose different ones of the two best actions',
    },
  },
  payoff: (context, i, _, first, second) => {
    if (first !== second) return first + second === 2 ? context.penalty[i] : 0
    return first === 1 ? 2 : 10
  },
})
