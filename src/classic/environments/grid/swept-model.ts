import { contextRow, finiteModel } from '../../environment/index.ts'
import type { Context, FiniteModel, Outcome, EnvironmentDefinition } from '../../environment/index.ts'
import { noRandomness, oneEnv } from './one-env.ts'

export interface Sweep {
  /** The context, in which `step` does not draw from chance. */
  context: Context
  states: number
  /** The state of every start, or [states] probabilities. */
  start: number | ArrayLike<number>
  /** Puts the slot into the state of a number; false where there is none, as in a wall. */
  place: (state: Float64Array, number: number) => boolean
  /** With what probability each action is done when one is chosen. */
  mix: (action: number) => readonly (readonly [probability: number, action: number])[]
}

/**
 * The exact model of an environment with discrete actions whose observation is the number of its state, found by doing each
 * action in each state with the environment's own `step`. Numbers without a state keep to themselves.
 */
export function sweptModel(
  definition: EnvironmentDefinition,
  { context, states, start, place, mix }: Sweep,
): FiniteModel {
  const numEnvs = oneEnv(definition, contextRow(definition.context, context))
  const actions = definition.action.type === 'discrete' ? definition.action.n : 0
  function outcome(state: number, action: number, probability: number): Outcome {
    if (!place(numEnvs.state, state)) return { probability, state, reward: 0, terminated: false }
    numEnvs.actions[0] = action
    definition.step(numEnvs, 0, noRandomness)
    definition.observe(numEnvs, 0)
    const { observations, rewards, terminated } = numEnvs
    return { probability, state: observations[0], reward: rewards[0], terminated: terminated[0] === 1 }
  }
  return finiteModel({
    states,
    actions,
    start,
    outcomes: (state, action) => mix(action).map(([probability, done]) => outcome(state, done, probability)),
  })
}

/** The mixture of `slip`: with that chance one of the first four actions, each equally likely. */
export const slipMix =
  (slip: number) =>
  (action: number): readonly (readonly [number, number])[] =>
    slip === 0
      ? [[1, action]]
      : [[1 - slip, action], ...[0, 1, 2, 3].map((other) => [slip / 4, other] as const)]
