import type { Context, ContextSpace } from './context.ts'
import { finiteModel, outcomesOf, sampleCategorical } from './finite-model.ts'
import type { FiniteModel, Outcome } from './finite-model.ts'
import { discrete } from './space.ts'
import { defineEnvironment } from './definition.ts'
import type { EnvironmentDefinition } from './definition.ts'

/** An environment whose exact model is known: `transitions` of a context gives it. */
export interface FiniteDefinition<C extends ContextSpace = ContextSpace> extends EnvironmentDefinition<C> {
  /**
   * The model in a context, the defaults where none is given. Its states and actions are numbered as the
   * observations and actions of the environment are, where these are discrete.
   */
  readonly transitions: (context?: Context) => FiniteModel
}

/**
 * An environment that samples a finite model: one draw at a reset and one a step, even where there is one outcome, as
 * Gymnasium's toy-text environments do. State and observation: the number of the state.
 *
 * Its context feature `noise` is the probability that a uniformly random action is taken instead of the chosen one
 * (where it is above 0, further draws a step).
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
  const scaled = (outcomes: Outcome[], factor: number): Outcome[] =>
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
