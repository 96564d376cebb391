import { assembly, instantiate } from '../../engine/tensor/index.ts'
import { contextColumns } from './context.ts'
import type { EnvironmentDefinition } from './definition.ts'
import { rowSize } from './space.ts'

const { doubles, i32, int, integers, repeat, v128 } = assembly

/**
 * `count(rewards, terminated, ended, returns, lengths, truncated, maxSteps, quads)` runs after a step, for four
 * environments at a time. It adds up returns and lengths, which restart where `ended` is 1, and writes
 * `truncated` and the new `ended`.
 */
const countKernel: assembly.WasmFunction = {
  name: 'count',
  parameters: Array.from({ length: 8 }, () => i32),
  code: ([rewards, terminated, ended, returns, lengths, truncated, maxSteps, quads], builder) => {
    const [goesOn, length, over, most] = Array.from({ length: 4 }, () => builder.local(v128))
    const { and, add, or, constant } = integers
    return [
      most.set(integers.splat(maxSteps.get)),
      repeat(
        [
          goesOn.set(integers.equal(integers.loadBytes(ended.get), constant(0))),
          length.set(add(and(doubles.load(lengths.get), goesOn.get), constant(1))),
          doubles.store(lengths.get, length.get),
          [doubles.masks(goesOn.get), integers.lastMasks(goesOn.get)].map((mask, i) =>
            doubles.store(
              returns.get,
              doubles.add(and(doubles.load(returns.get, i * 16), mask), doubles.load(rewards.get, i * 16)),
              i * 16,
            ),
          ),
          over.set(and(integers.notLess(length.get, most.get), constant(1))),
          integers.storeBytes(truncated.get, over),
          over.set(or(over.get, integers.loadBytes(terminated.get))),
          integers.storeBytes(ended.get, over),
          [
            [rewards, 32] as const,
            [terminated, 4] as const,
            [ended, 4] as const,
            [returns, 32] as const,
            [lengths, 16] as const,
            [truncated, 4] as const,
          ].map(([pointer, bytes]) => pointer.add(int.constant(bytes))),
        ],
        quads.tee(int.sub(quads.get, int.constant(1))),
      ),
    ]
  },
}

/** Below this number of environments, stepping them one by one is as fast. */
const fewest = 4
/** Kernels write this to `terminated` of environments that they skip. */
const left = 2

/**
 * The arrays of a vector in the memory of the kernels, and a function that steps, observes and counts all
 * environments. Undefined if the definition has no kernel, or is derived from one that has.
 */
export function batched(definition: EnvironmentDefinition, count: number, maxSteps: number) {
  const { batched: given } = definition
  const isOwn =
    given !== undefined &&
    given.step === definition.step &&
    given.observe === definition.observe &&
    given.context === definition.context
  if (!isOwn || count < fewest) return undefined
  const quads = Math.ceil(count / 4)
  let end = 16
  /** Space for whole groups of four environments. Kernels may need multiples of 16 bytes. */
  const room = (bytes: number): number => {
    const start = end
    end += Math.ceil((bytes * quads * 4) / 16) * 16
    return start
  }
  const [features, width] = [Object.keys(definition.context).length, rowSize(definition.observation)]
  const columnBytes = 8 * quads * 4
  const actionSize = rowSize(definition.action)
  const [state, context] = [room(8 * definition.stateSize), room(8 * features)]
  const [actions, observations, rewards] = [room(4 * actionSize), room(4 * width), room(8)]
  const [terminated, ended, truncated] = [room(1), room(1), room(1)]
  const [returns, lengths] = [room(8), room(4)]
  const machine = instantiate([given.kernel, countKernel], Math.ceil(end / 4))
  const { buffer } = machine.numbers
  const leftSome = new Int32Array(buffer, 0, 1)
  const endedQuads = new Int32Array(buffer, ended, quads)
  const most = Math.min(Math.ceil(maxSteps), 2 ** 31 - 1)
  const arrays = {
    state: new Float64Array(buffer, state, count * definition.stateSize),
    context: contextColumns(
      definition.context,
      count,
      (k) => new Float64Array(buffer, context + k * columnBytes, count),
    ),
    actions: new Float32Array(buffer, actions, count * actionSize),
    observations: new Float32Array(buffer, observations, count * width),
    rewards: new Float64Array(buffer, rewards, count),
    terminated: new Uint8Array(buffer, terminated, count),
  }
  const { step, count: countAll } = machine.kernels
  /** The environments that fill up the last group are reset to their state before the step. */
  const spare = new Float64Array(
    buffer,
    state + 8 * count * definition.stateSize,
    (quads * 4 - count) * definition.stateSize,
  )
  new Float64Array(buffer, context, (columnBytes / 8) * features).fill(1)
  return {
    arrays,
    counts: {
      truncated: new Uint8Array(buffer, truncated, count),
      returns: new Float64Array(buffer, returns, count),
      lengths: new Int32Array(buffer, lengths, count),
      ended: new Uint8Array(buffer, ended, count),
    },
    /**
     * `one` steps and observes an environment that the kernel skipped. `ends` is called for each environment
     * whose episode has ended.
     */
    step(one: (envIndex: number) => void, ends: (envIndex: number) => void): void {
      spare.fill(0)
      step(state, context, columnBytes, actions, observations, rewards, terminated, quads * 2, 0)
      if (leftSome[0] !== 0) {
        leftSome[0] = 0
        for (let envIndex = 0; envIndex < count; envIndex++)
          if (arrays.terminated[envIndex] === left) one(envIndex)
      }
      countAll(rewards, terminated, ended, returns, lengths, truncated, most, quads)
      for (let quad = 0; quad < quads; quad++) {
        const bytes = endedQuads[quad]
        if (bytes === 0) continue
        for (let k = 0; k < 4; k++)
          if (((bytes >>> (8 * k)) & 1) === 1 && quad * 4 + k < count) ends(quad * 4 + k)
      }
    },
  }
}
