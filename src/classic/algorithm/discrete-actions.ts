import type { DiscreteSpace, EnvironmentDefinition } from '../environment/index.ts'
import { AgogeError } from '../../error.ts'

/**
 * The action space of an environment for methods that hold a value for each action.
 *
 * @throws AgogeError `unsupported-space` where actions are no single choice
 */
export function discreteActions(definition: EnvironmentDefinition, algorithm: string): DiscreteSpace {
  if (definition.action.type === 'discrete') return definition.action
  throw new AgogeError(`${algorithm} cannot learn ${definition.name}: it needs one choice out of a list`, {
    code: 'unsupported-space',
    given: definition.action.type,
    expected: 'discrete actions',
    hint: 'use ppo, or for continuous actions sac or td3',
  })
}
