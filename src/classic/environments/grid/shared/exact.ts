import { AgogeError } from '../../../../error.ts'
import {
  type Context,
  contextColumns,
  contextRow,
  type EnvArrays,
  type EnvironmentDefinition,
  type EnvironmentRandom,
  finiteModel,
  type FiniteModel,
  type TransitionOutcome,
  readContext,
  writeContext,
} from '../../../environment/index.ts'

/** Arrays of one environment with discrete actions in the same context, for calling `step` as a model. */
export function oneEnv(definition: EnvironmentDefinition, row: Float64Array): EnvArrays {
  const context = contextColumns(definition.context, 1)
  writeContext(context, 0, row)
  return {
    count: 1,
    state: new Float64Array(definition.stateSize),
    context,
    actions: new Float32Array(1),
    observations: new Float32Array(1),
    rewards: new Float64Array(1),
    terminated: new Uint8Array(1),
    actionMask: new Uint8Array(0),
  }
}

function refuse(): never {
  throw new AgogeError('an exact answer was asked of an environment that draws from chance', {
    code: 'bad-argument',
    hint: 'set slip and noise to 0',
  })
}

/** For steps that must not draw random numbers. */
const noRandomness: EnvironmentRandom = {
  random: refuse,
  uniform: refuse,
  integers: refuse,
  normal: refuse,
}

interface Sweep {
  /** The context. It must make `step` deterministic. */
  context: Context
  states: number
  /** The state in which every episode starts, or [states] probabilities. */
  start: number | ArrayLike<number>
  /** Writes the state with a number. Returns false if the number has no state, such as a wall. */
  place: (state: Float64Array, number: number) => boolean
  /** The probability of each executed action, given the chosen one. */
  mix: (action: number) => readonly (readonly [probability: number, action: number])[]
}

/**
 * Computes the exact model of an environment with discrete actions whose observation is the number of its
 * state. It executes each action in each state with the environment's own `step`. Numbers without a state only
 * lead to themselves.
 */
export function sweptModel(
  definition: EnvironmentDefinition,
  { context, states, start, place, mix }: Sweep,
): FiniteModel {
  const envs = oneEnv(definition, contextRow(definition.context, context))
  const actions = definition.action.type === 'discrete' ? definition.action.n : 0
  function outcome(state: number, action: number, probability: number): TransitionOutcome {
    if (!place(envs.state, state)) return { probability, state, reward: 0, terminated: false }
    envs.actions[0] = action
    definition.step(envs, 0, noRandomness)
    definition.observe(envs, 0)
    const { observations, rewards, terminated } = envs
    return { probability, state: observations[0], reward: rewards[0], terminated: terminated[0] === 1 }
  }
  return finiteModel({
    states,
    actions,
    start,
    outcomes: (state, action) => mix(action).map(([probability, done]) => outcome(state, done, probability)),
  })
}

/** The mixture for `slip`: with this probability, one of the first four actions, uniformly. */
export const slipMix =
  (slip: number) =>
  (action: number): readonly (readonly [number, number])[] =>
    slip === 0
      ? [[1, action]]
      : [[1 - slip, action], ...[0, 1, 2, 3].map((other) => [slip / 4, other] as const)]

/**
 * An oracle: the fewest actions from the current state of environment i to a step that ends the episode with a
 * reward above 0, or `null` if there is none. Searches breadth-first, on a copy, with the environment's own
 * `step` as the model. Needs discrete actions and deterministic steps.
 *
 * @throws AgogeError `too-large` after `maxStates` states
 */
export function shortestPlan(
  definition: EnvironmentDefinition,
  envs: EnvArrays,
  i: number,
  maxStates = 100_000,
): number[] | null {
  if (definition.action.type !== 'discrete') {
    throw new AgogeError(`shortest plans are for discrete actions`, {
      code: 'bad-argument',
      given: `${definition.name} with actions of type ${definition.action.type}`,
    })
  }
  const { stateSize } = definition
  const model = oneEnv(definition, readContext(envs.context, i))
  interface Node {
    state: Float64Array
    parent: Node | null
    action: number
  }
  const root: Node = {
    state: envs.state.slice(i * stateSize, (i + 1) * stateSize),
    parent: null,
    action: -1,
  }
  /** The key of a state: its differences from the first state, so that keys of large boards are short. */
  function keyOf(state: Float64Array): string {
    let key = ''
    for (let k = 0; k < stateSize; k++) if (state[k] !== root.state[k]) key += `${k}:${state[k]} `
    return key
  }
  const seen = new Set([keyOf(root.state)])
  let frontier = [root]
  while (frontier.length > 0) {
    const next: Node[] = []
    for (const node of frontier) {
      for (let action = 0; action < definition.action.n; action++) {
        model.state.set(node.state)
        model.actions[0] = action
        definition.step(model, 0, noRandomness)
        if (model.terminated[0] === 1) {
          if (model.rewards[0] > 0) return actionsTo({ state: model.state, parent: node, action })
          continue
        }
        const key = keyOf(model.state)
        if (seen.has(key)) continue
        seen.add(key)
        if (seen.size > maxStates) {
          throw new AgogeError(`${definition.name} has more states than the search may visit`, {
            code: 'too-large',
            given: maxStates,
          })
        }
        next.push({ state: model.state.slice(), parent: node, action })
      }
    }
    frontier = next
  }
  return null

  function actionsTo(end: Node): number[] {
    const plan: number[] = []
    for (let node: Node | null = end; node?.parent; node = node.parent) plan.unshift(node.action)
    return plan
  }
}
