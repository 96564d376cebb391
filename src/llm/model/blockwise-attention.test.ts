import { expect, test } from 'vitest'
import { createRandom } from '../../engine/random/index.ts'
import type { Random } from '../../engine/random/index.ts'
import { compile } from '../../engine/tensor/index.ts'
import type { Dim, HostTensor, Tensor } from '../../engine/tensor/index.ts'
import { attend, causalLimits } from './attention.ts'
import { attendBlockwise, attentionBlocks } from './blockwise-attention.ts'
import { createLearner } from '../backend/learner.ts'
import { createLocalBackend } from '../backend/local-backend.ts'
import { packedLimits } from './batches.ts'
import { initialiseParameters } from './parameters.ts'
import { createScalarModel } from '../backend/scalar-model.ts'
import { crossEntropy, logitsOf, tinyConfig } from '../testing/tiny-model.ts'

type Make = (inputs: Record<string, Tensor>) => {
  y: Tensor
  pullback: (gy: Tensor) => { q: Tensor; k: Tensor; v: Tensor }
}

const numbers = (random: Random, shape: number[]) => ({
  data: Float32Array.from({ length: shape.reduce((a, b) => a * b) }, () => 2 * random.normal()),
  shape,
})

test.each([
  [4, 4, 2, false],
  [4, 2, 3, false],
  [4, 1, 8, false],
  [4, 4, 3, true],
  [4, 2, 4, true],
])(
  '%i heads that share keys in %i, in %i blocks, packed %s: values and gradients as of the whole row',
  async (heads, shared, blocks, packed) => {
    const config = { ...tinyConfig, num_attention_heads: heads, num_key_value_heads: shared, head_dim: 8 }
    const [batch, size] = [3, 5]
    const time = blocks * size
    const random = createRandom(blocks)
    const values = {
      q: numbers(random, [batch, heads, time, 8]),
      k: numbers(random, [batch, shared, time, 8]),
      v: numbers(random, [batch, shared, time, 8]),
      gy: numbers(random, [batch * time, heads * 8]),
    }
    const run = async (length: Dim, symbols: Dim[], limits: HostTensor, make: Make) => {
      const program = await compile(
        {
          q: { shape: ['B', heads, length, 8] },
          k: { shape: ['B', shared, length, 8] },
          v: { shape: ['B', shared, length, 8] },
          gy: { shape: [`B*${length}`, heads * 8] },
          limits: { shape: symbols },
        },
        ({ gy, ...inputs }) => {
          const { y, pullback } = make(inputs)
          return { y, ...pullback(gy) }
        },
      )
      const found = await program.run({ ...values, limits })
      await program.release()
      return found
    }
    // Of each row other parts begin at other places.
    const positions = Int32Array.from(
      { length: batch * time },
      (_, i) => (i % time) % (4 + Math.floor(i / time)),
    )
    const rows = packedLimits({ positions, time })
    const [ofWhole, ofBlocks]: [Dim[], Dim[]] = packed
      ? [
          ['B', 'T', 'T'],
          ['B', blocks, 'S', `${blocks}*S`],
        ]
      : [
          ['T', 'T'],
          ['S', 'S'],
        ]
    const whole = await run(
      'T',
      ofWhole,
      packed ? { data: rows, shape: [batch, time, time] } : { data: causalLimits(time), shape: [time, time] },
      ({ q, k, v, limits }) => attend(q, k, v, limits, 'B', 'T', config),
    )
    const cut = await run(
      `${blocks}*S`,
      ofBlocks,
      packed
        ? { data: rows, shape: [batch, blocks, size, time] }
        : { data: causalLimits(size), shape: [size, size] },
      ({ q, k, v, limits }) => attendBlockwise(q, k, v, limits, 'B', { blocks, size: 'S' }, config),
    )
    for (const name of ['y', 'q', 'k', 'v']) {
      const [a, b] = [whole[name], cut[name]]
      expect(b.shape, name).toEqual(a.shape)
      const most = Math.max(...a.data.map((value, i) => Math.abs(value - b.data[i])))
      expect(most, name).toBeLessThan(2e-5)
    }
  },
)

const time = 701
const config = { ...tinyConfig, max_position_embeddings: time }
const parameters = initialiseParameters(config, 2)
for (let i = 0; i < parameters.data.length; i++) parameters.data[i] *= 3
const long = Array.from({ length: time }, (_, i) => (i * i * 31 + 7 * i) % 64)
const off = (a: Float32Array, b: Float32Array): number =>
  Math.hypot(...a.map((value, i) => value - b[i])) / Math.hypot(...b)

test('a sequence as long as the window has the log-probabilities of whole rows', async () => {
  expect(attentionBlocks(time - 1)).toBe(4)
  const learner = createLearner({ config, parameters, tokenBudget: 1024 })
  const [found] = await learner.forward([Int32Array.from(long)])
  const logits = await logitsOf({ config, parameters }, [long])
  const expected = Float32Array.from(long, (_, t) => {
    if (t === 0) return 0
    const row = logits.subarray((t - 1) * 64, t * 64)
    return row[long[t]] - Math.log(row.reduce((sum, logit) => sum + Math.exp(logit), 0))
  })
  expect(off(found, expected)).toBeLessThan(1e-5)
  await learner.dispose()
})

test('gradients as of packed rows, also block by block and with threads inside', async () => {
  const rows = [crossEntropy(long, 0.01), crossEntropy(long.slice(0, 600), 0.01)]
  const gradientOf = async (options: object, count = 2): Promise<Float32Array> => {
    const learner = createLearner({ config, parameters, tokenBudget: 2048, ...options })
    await learner.forwardBackward(rows.slice(0, count), { name: 'cross_entropy' })
    await learner.dispose()
    return learner.gradient
  }
  const expected = await gradientOf({ packing: time })
  expect(off(await gradientOf({}), expected)).toBeLessThan(1e-4)
  expect(off(await gradientOf({ recompute: true }), expected)).toBeLessThan(1e-4)
  const backend = createLocalBackend({ config, parameters, threads: 2 })
  const { loss } = await backend.forwardBackward(rows.slice(0, 1), { name: 'cross_entropy' })
  await backend.optimStep({ learningRate: 0 })
  expect(loss).toBeGreaterThan(0)
  await backend.dispose()
  const alone = await gradientOf({ packing: time }, 1)
  expect(off(await gradientOf({ threads: 2 }, 1), alone)).toBeLessThan(1e-4)
})

test('values of a scalar model do not depend on the batch, for split and whole rows', async () => {
  const model = createScalarModel({ config, parameters, tokenBudget: 2048 })
  for (const [i] of model.parameters.data.entries()) model.parameters.data[i] += 0.01 * Math.sin(i)
  const short = Int32Array.from(long.slice(0, 500))
  const [whole] = await model.values([short])
  const [, cut] = await model.values([Int32Array.from(long), short])
  expect(off(cut, whole)).toBeLessThan(1e-5)
  await model.dispose()
})
