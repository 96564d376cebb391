import { AgogeError } from '../../../error.ts'
import { contextColumns, writeContext } from '../../environment/index.ts'
import type { EnvArrays, EnvironmentDefinition, EnvironmentRandom } from '../../environment/index.ts'

/** Slots for one copy of an environment with discrete actions, in a row of its context: for asking `step` what would happen. */
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

/** For steps that must not draw. */
export const noRandomness: EnvironmentRandom = {
  random: refuse,
  uniform: refuse,
  integers: refuse,
  normal: refuse,
}
