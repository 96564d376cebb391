import { frameStack, rowSize } from '../environment/index.ts'
import { checkRows, windowOf } from '../policy/index.ts'
import type { Encoder } from '../policy/index.ts'
import type { ClassicAlgorithm } from './agent.ts'
import { readOnly } from './read-only.ts'

/**
 * The same algorithm on the last observations of the episode side by side, as many as the body sees at once, the newest at
 * the end; before there are as many, the first one stands in. Bodies without a window leave the algorithm as it is.
 */
export function overWindow(encoder: Encoder | undefined, algorithm: ClassicAlgorithm): ClassicAlgorithm {
  const window = windowOf(encoder)
  if (window === undefined) return algorithm
  return async (environment, options) => {
    let begun = false
    const stacked = frameStack(
      readOnly(environment, () => begun),
      window,
    )
    const agent = await algorithm(stacked, options)
    const width = rowSize(environment.definition.observation)
    /** Of a row: 1 once it has seen an observation, then its window. */
    const memorySize = 1 + window * width

    /** The windows [rows, window * width] that end with the observations; the memory then ends with them too. */
    function remember(observations: Float32Array, rows: number, memory: Float32Array): Float32Array {
      checkRows(observations, rows, width)
      const windows = new Float32Array(rows * window! * width)
      for (let r = 0; r < rows; r++) {
        const at = r * memorySize + 1
        const end = at + window! * width
        const x = observations.subarray(r * width, (r + 1) * width)
        if (memory[at - 1] === 0) for (let k = at; k < end; k += width) memory.set(x, k)
        memory[at - 1] = 1
        memory.copyWithin(at, at + width, end)
        memory.set(x, end - width)
        windows.set(memory.subarray(at, end), r * window! * width)
      }
      return windows
    }

    return {
      ...agent,
      memorySize,
      act() {
        if (!begun) void stacked.reset()
        begun = true
        return agent.act()
      },
      learn() {
        stacked.step()
        return agent.learn()
      },
      predict(observations, rows, actions, mask, memory = new Float32Array(rows * memorySize)) {
        agent.predict(remember(observations, rows, memory), rows, actions, mask)
      },
      ...(agent.values === undefined
        ? {}
        : {
            values: (observations, rows, to, mask) =>
              agent.values!(
                remember(observations, rows, new Float32Array(rows * memorySize)),
                rows,
                to,
                mask,
              ),
          }),
      state: () => ({ agent: agent.state(), window: stacked.state(), begun }),
      restore(saved) {
        const state = saved as {
          agent: unknown
          window: ReturnType<typeof stacked.state>
          begun: boolean
        }
        agent.restore(state.agent)
        stacked.restore(state.window)
        begun = state.begun
      },
    }
  }
}
