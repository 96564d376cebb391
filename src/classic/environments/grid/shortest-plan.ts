import { AgogeError } from '../../../error.ts'
import { readContext } from '../../environment/index.ts'
import type { EnvArrays, EnvironmentDefinition } from '../../environment/index.ts'
import { noRandomness, oneEnv } from './one-env.ts'

/**
 * An oracle: the fewest actions from slot i's state to a step that ends the episode with a reward above 0, found
 * breadth-first with the environment's own `step` as the model (on a copy; the slot is left as it is). `null` where there
 * is none. The environment has discrete actions and no chance in its steps. Throws `too-large` after `maxStates` states.
 */
export function shortestPlan(
  definition: EnvironmentDefinition,
  numEnvs: EnvArrays,
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
  const model = oneEnv(definition, readContext(numEnvs.context, i))
  interface Node {
    state: Float64Array
    parent: Node | null
    action: number
  }
  const root: Node = {
    state: numEnvs.state.slice(i * stateSize, (i + 1) * stateSize),
    parent: null,
    action: -1,
  }
  /** A state by its differences from the first, so that boards of hundreds of cells have short keys. */
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
