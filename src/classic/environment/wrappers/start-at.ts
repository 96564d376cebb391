import type { VectorEnvironment } from '../vector.ts'
import type { EnvArrays } from '../definition.ts'
import { wrapVector } from './wrap-vector.ts'

/**
 * Episodes begin where `place` puts them: a snapshot of another episode, or what a guide has walked to. It is called
 * after the environment's own reset of a slot and writes that slot's part of `slots.state`. It may step the environment to get
 * there: rewards, ends and actions of the slot are put back, and such steps count nowhere. Of an episode that has just
 * ended it still finds `rewards`, `terminated` and `truncated`. A state that ends an episode is no place to begin.
 *
 * `place` is not saved with the environment's state: what it remembers is its own business.
 */
export function startAt<E extends VectorEnvironment>(
  env: E,
  place: (numEnvs: EnvArrays, envIndex: number, env: VectorEnvironment) => void,
): E {
  const { numEnvs, definition } = env
  const { rewards, terminated, actions } = numEnvs
  const size = actions.length / numEnvs.count
  const action = new Float32Array(size)

  function begin(envIndex: number): void {
    const reward = rewards[envIndex]
    const end = terminated[envIndex]
    for (let k = 0; k < size; k++) action[k] = actions[envIndex * size + k]
    place(numEnvs, envIndex, env)
    rewards[envIndex] = reward
    terminated[envIndex] = end
    for (let k = 0; k < size; k++) actions[envIndex * size + k] = action[k]
    definition.observe(numEnvs, envIndex)
    definition.mask?.(numEnvs, envIndex)
  }
  function beginAll({ first }: { first: Uint8Array }): void {
    for (let envIndex = 0; envIndex < numEnvs.count; envIndex++) if (first[envIndex] === 1) begin(envIndex)
  }

  return wrapVector(
    env,
    {},
    {
      arrays: () => ({}),
      reset: (_mask, boundaries) => beginAll(boundaries),
      step: beginAll,
      truncate(envIndex) {
        if (env.autoreset === 'same-step') begin(envIndex)
      },
    },
  )
}
