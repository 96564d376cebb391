import type { VectorEnvironment } from '../vector.ts'
import type { Slots } from '../world.ts'
import { wrapVector } from './wrap-vector.ts'

/**
 * Episodes begin where `place` puts them: a snapshot of another episode, or what a guide has walked to. It is called
 * after the world's own reset of a slot and writes that slot's part of `slots.state`. It may step the world to get
 * there: rewards, ends and actions of the slot are put back, and such steps count nowhere. Of an episode that has just
 * ended it still finds `rewards`, `terminated` and `truncated`. A state that ends an episode is no place to begin.
 *
 * `place` is not saved with the environment's state: what it remembers is its own business.
 */
export function startAt<E extends VectorEnvironment>(
  env: E,
  place: (slots: Slots, slot: number, env: VectorEnvironment) => void,
): E {
  const { slots, world } = env
  const { rewards, terminated, actions } = slots
  const size = actions.length / slots.count
  const action = new Float32Array(size)

  function begin(slot: number): void {
    const reward = rewards[slot]
    const end = terminated[slot]
    for (let k = 0; k < size; k++) action[k] = actions[slot * size + k]
    place(slots, slot, env)
    rewards[slot] = reward
    terminated[slot] = end
    for (let k = 0; k < size; k++) actions[slot * size + k] = action[k]
    world.observe(slots, slot)
    world.mask?.(slots, slot)
  }
  function beginAll({ first }: { first: Uint8Array }): void {
    for (let slot = 0; slot < slots.count; slot++) if (first[slot] === 1) begin(slot)
  }

  return wrapVector(
    env,
    {},
    {
      arrays: () => ({}),
      reset: (_mask, boundaries) => beginAll(boundaries),
      step: beginAll,
      truncate(slot) {
        if (env.autoreset === 'same-step') begin(slot)
      },
    },
  )
}
