import { assembly } from '../../engine/tensor/index.ts'

const { doubles, i32, int, integers, repeat, v128 } = assembly

/**
 * `count(rewards, terminated, ended, returns, lengths, truncated, maxSteps, quads)`: after a step, adds up returns and lengths,
 * which start anew where the slot had ended, and says who is truncated and who has ended now. Four slots at a time.
 */
export const countKernel: assembly.WasmFunction = {
  name: 'count',
  parameters: Array.from({ length: 8 }, () => i32),
  body: ([rewards, terminated, ended, returns, lengths, truncated, maxSteps, quads], builder) => {
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
