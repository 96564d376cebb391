import { AgogeError } from '../../error.ts'
import type { Context, ContextSpace } from './context.ts'
import { defineEnvironment, type EnvironmentDefinition } from './definition.ts'
import { discrete } from './space.ts'

/** One possible result of an action. */
export interface TransitionOutcome {
  probability: number
  /** The next state. */
  state: number
  reward: number
  terminated: boolean
}

/**
 * The exact model of a finite Markov decision process, for dynamic programming and for sampling. The outcomes
 * of state s and action a are the rows from `offsets[s * actions + a]` up to, but not including, `offsets[s *
 * actions + a + 1]` of the four arrays. Their order is preserved, because sampling depends on it.
 */
export interface FiniteModel {
  readonly states: number
  readonly actions: number
  /** [states]: the probability that an episode starts in the state. */
  readonly start: Float64Array
  /** [states * actions + 1]. */
  readonly offsets: Int32Array
  /** [rows]. */
  readonly probabilities: Float64Array
  /** [rows]: the next state. */
  readonly next: Int32Array
  /** [rows]. */
  readonly rewards: Float64Array
  /** [rows]: 1 where the episode ends. */
  readonly terminated: Uint8Array
}

/**
 * Builds a model from a function that lists the outcomes of an action in a state.
 *
 * @throws AgogeError `bad-model` if probabilities do not sum to 1 within 1e-9, a next state is outside 0 to
 * states - 1, or a reward is not finite
 */
export function finiteModel(description: {
  states: number
  actions: number
  /** The state in which every episode starts, or [states] probabilities. */
  start: number | ArrayLike<number>
  outcomes: (state: number, action: number) => readonly TransitionOutcome[]
}): FiniteModel {
  const { states, actions } = description
  const start = new Float64Array(states)
  if (typeof description.start === 'number') start[description.start] = 1
  else start.set(description.start)
  checkDistribution(start, 'the start')

  const rows: TransitionOutcome[] = []
  const offsets = new Int32Array(states * actions + 1)
  for (let state = 0; state < states; state++) {
    for (let action = 0; action < actions; action++) {
      const outcomes = description.outcomes(state, action)
      checkOutcomes(outcomes, states, `state ${state}, action ${action}`)
      rows.push(...outcomes)
      offsets[state * actions + action + 1] = rows.length
    }
  }
  return {
    states,
    actions,
    start,
    offsets,
    probabilities: Float64Array.from(rows, (row) => row.probability),
    next: Int32Array.from(rows, (row) => row.state),
    rewards: Float64Array.from(rows, (row) => row.reward),
    terminated: Uint8Array.from(rows, (row) => (row.terminated ? 1 : 0)),
  }
}

/** The outcomes of an action in a state, in the order of the model. */
export function outcomesOf(model: FiniteModel, state: number, action: number): TransitionOutcome[] {
  const pair = state * model.actions + action
  const outcomes: TransitionOutcome[] = []
  for (let row = model.offsets[pair]; row < model.offsets[pair + 1]; row++) {
    outcomes.push({
      probability: model.probabilities[row],
      state: model.next[row],
      reward: model.rewards[row],
      terminated: model.terminated[row] === 1,
    })
  }
  return outcomes
}

/**
 * The index in [from, to) that a uniform draw in [0, 1) selects. Gymnasium's rule: the first index whose
 * cumulative probability is above the draw, or `from` if rounding leaves none.
 */
export function sampleCategorical(
  probabilities: ArrayLike<number>,
  from: number,
  to: number,
  draw: number,
): number {
  let sum = 0
  for (let k = from; k < to; k++) {
    sum += probabilities[k]
    if (sum > draw) return k
  }
  return from
}

function checkOutcomes(outcomes: readonly TransitionOutcome[], states: number, where: string): void {
  checkDistribution(
    outcomes.map((outcome) => outcome.probability),
    where,
  )
  for (const outcome of outcomes) {
    const { state, reward } = outcome
    if (Number.isInteger(state) && state >= 0 && state < states && Number.isFinite(reward)) continue
    throw new AgogeError(`a finite model has a bad outcome at ${where}`, {
      code: 'bad-model',
      given: outcome,
      expected: `a state from 0 to ${states - 1} and a finite reward`,
    })
  }
}

function checkDistribution(probabilities: ArrayLike<number>, where: string): void {
  let sum = 0
  let low = 0
  for (let k = 0; k < probabilities.length; k++) {
    sum += probabilities[k]
    low = Math.min(low, probabilities[k])
  }
  if (low >= 0 && Math.abs(sum - 1) <= 1e-9) return
  throw new AgogeError(`the probabilities of a finite model are no distribution at ${where}`, {
    code: 'bad-model',
    given: Array.from(probabilities),
    expected: 'numbers of at least 0 that sum to 1',
  })
}

/**
 * The index 0 to 2 that a uniform draw in [0, 1) selects, by the rule of Gymnasium's `categorical_sample`: the
 * first index whose cumulative probability is above the draw, or 0 if rounding leaves none.
 */
export function threeWays(first: number, second: number, third: number, draw: number): 0 | 1 | 2 {
  if (first > draw) return 0
  if (first + second > draw) return 1
  return first + second + third > draw ? 2 : 0
}

/** A definition with an exact model: `transitions` returns the model in a context. */
export interface FiniteDefinition<C extends ContextSpace = ContextSpace> extends EnvironmentDefinition<C> {
  /**
   * The model in a context. Default: the defaults of the features. States and actions have the numbers of the
   * discrete observations and actions of the environment.
   */
  readonly transitions: (context?: Context) => FiniteModel
}

/**
 * Defines an environment that samples a finite model. It draws one random number at each reset and each step,
 * also if there is only one outcome, as Gymnasium's toy-text environments do. State and observation are the
 * number of the state.
 *
 * The context feature `noise` is the probability that a uniformly random action replaces the chosen one. A step
 * draws further numbers if it is above 0.
 */
export function finiteEnvironment(
  name: string,
  model: FiniteModel,
  options: { maxSteps?: number } = {},
): FiniteDefinition {
  const { actions, offsets, probabilities, next, rewards: modelRewards, terminated: ends, start } = model
  return {
    ...defineEnvironment({
      name,
      observation: discrete(model.states),
      action: discrete(actions),
      context: {
        noise: {
          default: 0,
          low: 0,
          high: 0.2,
          extrapolate: [0, 0.5],
          about: 'probability of a uniformly random action instead of the chosen one',
        },
      },
      stateSize: 1,
      ...options,
      reset({ state }, i, random) {
        state[i] = sampleCategorical(start, 0, start.length, random.random())
      },
      step({ state, context, actions: chosen, rewards, terminated }, i, random) {
        const noise = context.noise[i]
        const action = noise > 0 && random.random() < noise ? random.integers(actions) : chosen[i]
        const pair = state[i] * actions + action
        const row = sampleCategorical(probabilities, offsets[pair], offsets[pair + 1], random.random())
        state[i] = next[row]
        rewards[i] = modelRewards[row]
        terminated[i] = ends[row]
      },
      observe({ state, observations }, i) {
        observations[i] = state[i]
      },
    }),
    transitions: ({ noise = 0 } = {}) => (noise === 0 ? model : withNoise(model, noise)),
  }
}

function withNoise(model: FiniteModel, noise: number): FiniteModel {
  const scaled = (outcomes: TransitionOutcome[], factor: number): TransitionOutcome[] =>
    outcomes.map((outcome) => ({ ...outcome, probability: outcome.probability * factor }))
  return finiteModel({
    ...model,
    outcomes: (state, action) => {
      const mixed = scaled(outcomesOf(model, state, action), 1 - noise)
      for (let other = 0; other < model.actions; other++)
        mixed.push(...scaled(outcomesOf(model, state, other), noise / model.actions))
      return mixed
    },
  })
}
