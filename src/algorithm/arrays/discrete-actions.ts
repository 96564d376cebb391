import type { DiscreteSpace, World } from '../../environment/index.ts'
import { AgogeError } from '../../error.ts'

/**
 * The action space of a world for methods that hold a value for each action.
 *
 * @throws AgogeError `unsupported-space` where actions are no single choice
 */
export function discreteActions(world: World, algorithm: string): DiscreteSpace {
  if (world.action.type === 'discrete') return world.action
  throw new AgogeError(`${algorithm} cannot learn ${world.name}: it needs one choice out of a list`, {
    code: 'unsupported-space',
    given: world.action.type,
    expected: 'discrete actions',
    hint: 'use ppo, or for continuous actions sac or td3',
  })
}
