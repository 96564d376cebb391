import { box, rowSize } from '../environment/index.ts'
import type { AnyVector } from '../environment/index.ts'

/** An environment whose observations are followed by what the policy remembers when it sees them. */
export interface MemoryRows {
  /** The environment with rows [observation, memory]; to be read, not stepped. */
  readonly environment: AnyVector
  /** [slots, memory]: the memory when the policy acts, which it changes to that after acting. */
  readonly memory: Float32Array
  /** Before the first step. */
  begin(): void
  /** After a step: new rows, and a blank memory where an episode has begun. */
  stepped(): void
  /** Of rows [count, observation + memory] the two parts; of the memory every `sequence`-th row, from the first. */
  split(
    rows: Float32Array,
    count: number,
    sequence?: number,
  ): { observations: Float32Array; memory: Float32Array }
  state(): unknown
  restore(state: unknown): void
}

/**
 * So that a rollout keeps with each step the memory before it, from which the step can be computed again, and with each
 * last observation the memory it was seen with.
 */
export function memoryRows(inner: AnyVector, size: number): MemoryRows {
  const numEnvs = inner.numEnvs.count
  const own = rowSize(inner.definition.observation)
  const width = own + size
  const observations = new Float32Array(numEnvs * width)
  const finalObservations = new Float32Array(numEnvs * width)
  const memory = new Float32Array(numEnvs * size)

  function write(from: Float32Array, envIndex: number, to: Float32Array): void {
    for (let k = 0; k < own; k++) to[envIndex * width + k] = from[envIndex * own + k]
    for (let k = 0; k < size; k++) to[envIndex * width + own + k] = memory[envIndex * size + k]
  }

  return {
    environment: {
      ...inner,
      observations,
      finalObservations,
      definition: { ...inner.definition, observation: box([width], -Infinity, Infinity) },
    },
    memory,
    begin() {
      memory.fill(0)
      for (let envIndex = 0; envIndex < numEnvs; envIndex++) write(inner.observations, envIndex, observations)
    },
    stepped() {
      for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
        if (inner.terminated[envIndex] === 1 || inner.truncated[envIndex] === 1) {
          write(inner.finalObservations, envIndex, finalObservations)
          memory.fill(0, envIndex * size, (envIndex + 1) * size)
        }
        write(inner.observations, envIndex, observations)
      }
    },
    split(rows, count, sequence = 1) {
      const seen = new Float32Array(count * own)
      const remembered = new Float32Array((count / sequence) * size)
      for (let r = 0; r < count; r++) {
        for (let k = 0; k < own; k++) seen[r * own + k] = rows[r * width + k]
        if (r % sequence > 0) continue
        for (let k = 0; k < size; k++) remembered[(r / sequence) * size + k] = rows[r * width + own + k]
      }
      return { observations: seen, memory: remembered }
    },
    state: () => [observations.slice(), finalObservations.slice(), memory.slice()],
    restore(saved) {
      const arrays = saved as Float32Array[]
      observations.set(arrays[0])
      finalObservations.set(arrays[1])
      memory.set(arrays[2])
    },
  }
}
