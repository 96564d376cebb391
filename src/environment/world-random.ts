import { createRandom } from '../random/index.ts'
import type { RandomKey } from '../random/index.ts'
import type { WorldRandom } from './world.ts'

/** A stream for a world, its state readable for exact resumption. */
export interface WorldStream extends WorldRandom {
  state(): unknown
  restore(state: unknown): void
}

/** The fast stream named by keys. */
export function fastStream(...keys: [RandomKey, ...RandomKey[]]): WorldStream {
  const random = createRandom(...keys)
  return {
    random: () => random.next(),
    uniform: (low, high) => low + (high - low) * random.next(),
    integers: (n) => random.int(n),
    normal: () => random.normal(),
    state: () => random.state(),
    restore: (state) => random.restore(state as ReturnType<typeof random.state>),
  }
}
