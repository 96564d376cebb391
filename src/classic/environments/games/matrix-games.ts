import { createMatrixGame } from './matrix-game.ts'

/**
 * The prisoner's dilemma, repeated (Axelrod 1984): action 0 cooperates, 1 defects; each sees what both did last.
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
  payoff(context, c, agent, first, second) {
    const [own, other] = agent === 0 ? [first, second] : [second, first]
    if (own === 0) return other === 0 ? context[c + 1] : context[c + 3]
    return other === 0 ? context[c] : context[c + 2]
  },
})

/** Rows are the first agent's actions. The -30 are the feature `penalty`. */
const climbingTable = [11, NaN, 0, NaN, 7, 6, 0, 0, 5]

/**
 * The climbing game (Claus & Boutilier 1998): both get [[11, -30, 0], [-30, 7, 6], [0, 0, 5]]. Who explores alone is
 * punished for the best action: independent learners settle at 5 or 7.
 */
export const climbing = createMatrixGame({
  name: 'climbing',
  choices: 3,
  context: {
    penalty: { default: -30, low: -40, high: -10, extrapolate: [-100, 0], about: 'for missing each other' },
  },
  payoff: (context, c, _, first, second) => {
    const value = climbingTable[first * 3 + second]
    return Number.isNaN(value) ? context[c] : value
  },
})

/** The penalty game (Claus & Boutilier 1998): both get [[10, 0, k], [0, 2, 0], [k, 0, 10]]. */
export const penaltyGame = createMatrixGame({
  name: 'penalty',
  choices: 3,
  context: {
    penalty: {
      default: -25,
      low: -50,
      high: 0,
      extrapolate: [-100, 0],
      about: 'k, for choosing different ones of the two best actions',
    },
  },
  payoff: (context, c, _, first, second) => {
    if (first !== second) return first + second === 2 ? context[c] : 0
    return first === 1 ? 2 : 10
  },
})
