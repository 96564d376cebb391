import type { ArrayAgent } from '../algorithm/arrays/index.ts'
import { rowSize } from '../environment/index.ts'
import type { World } from '../environment/index.ts'
import { createRandom } from '../random/index.ts'

/** Acts uniformly at random among what is allowed; normally distributed where an action has no bounds. */
export function randomAgent({ action }: World, seed: number): Pick<ArrayAgent, 'decide'> {
  const random = createRandom('random-agent', seed)
  const size = rowSize(action)

  function choose(k: number): number {
    switch (action.type) {
      case 'discrete':
        return action.start + random.int(action.n)
      case 'multi-discrete':
        return random.int(action.counts[k])
      case 'multi-binary':
        return random.int(2)
      case 'box': {
        const [low, high] = [action.low[k], action.high[k]]
        return Number.isFinite(high - low) ? low + (high - low) * random.next() : random.normal()
      }
    }
  }

  return {
    decide(_observations, rows, actions, mask) {
      for (let row = 0; row < rows; row++) {
        for (let k = 0; k < size; k++) actions[row * size + k] = choose(k)
        if (mask === undefined || action.type !== 'discrete') continue
        const allowed: number[] = []
        for (let i = 0; i < action.n; i++) if (mask[row * action.n + i] === 1) allowed.push(i)
        if (allowed.length > 0) actions[row] = action.start + random.pick(allowed)
      }
    },
  }
}
