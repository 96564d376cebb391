import { expect, test } from 'vitest'
import { compile, evaluateTensors } from './index.ts'
import { input } from './operators/constant.ts'
import { cases, randomFeeds } from './testing/cases.ts'

const sizes = [
  { B: 1, T: 1, P: 2 },
  { B: 2, T: 3, P: 1 },
  { B: 3, T: 2, P: 4 },
  { B: 5, T: 7, P: 3 },
]

test.each(Object.entries(cases))(
  '%s: the runtime agrees with the reference at every size',
  async (_, { inputs, build }) => {
    const program = await compile(inputs, (traced) => ({ result: build(traced) }))
    const reference = build(
      Object.fromEntries(
        Object.entries(inputs).map(([name, { shape, dtype }]) => [name, input(name, shape, dtype)]),
      ),
    )
    for (const [seed, size] of sizes.entries()) {
      const feeds = randomFeeds(inputs, size, seed)
      const expected = evaluateTensors({ result: reference }, feeds).result
      const { result } = await program.run(feeds)
      expect(result.shape).toEqual(expected.shape)
      expect(result.dtype).toBe(expected.dtype)
      expect(result.data.constructor).toBe(expected.data.constructor)
      for (let i = 0; i < expected.data.length; i++)
        expect(Math.abs(result.data[i] - expected.data[i])).toBeLessThan(
          2e-5 * (1 + Math.abs(expected.data[i])),
        )
    }
    await program.release()
  },
)
