import type { ClassicAgent } from '../../classic/algorithm/agent.ts'
import { choiceCounts, rowSize } from '../../classic/environment/index.ts'
import type { EnvironmentDefinition } from '../../classic/environment/index.ts'
import { createRandom } from '../../engine/random/index.ts'

/** Makes an agent that draws uniformly from the allowed actions. Unbounded actions are normally distributed. */
export function randomAgent({ action }: EnvironmentDefinition, seed: number): Pick<ClassicAgent, 'predict'> {
  const random = createRandom('random-agent', seed)
  const size = rowSize(action)
  const counts = choiceCounts(action)
  const choices = counts.reduce((sum, n) => sum + n, 0)
  const start = action.type === 'discrete' ? action.start : 0

  /** Draws an allowed action, if there are masks. */
  function allowed(mask: Uint8Array, from: number, n: number): number {
    const choices: number[] = []
    for (let i = 0; i < n; i++) if (mask[from + i] === 1) choices.push(i)
    return choices.length === 0 ? 0 : random.pick(choices)
  }

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
        if (Number.isFinite(high - low)) return low + (high - low) * random.next()
        return Math.min(Math.max(random.normal(), low), high)
      }
    }
  }

  return {
    predict(_observations, rows, actions, mask) {
      for (let row = 0; row < rows; row++) {
        let from = row * choices
        for (let k = 0; k < size; k++) {
          if (mask === undefined) actions[row * size + k] = choose(k)
          else actions[row * size + k] = start + allowed(mask, from, counts[k])
          from += counts[k]
        }
      }
    },
  }
}
