import { expect, test } from 'vitest'
import { createLocalBackend } from './local-backend.ts'
import { sequenceEntropies } from './loss-report.ts'
import { tinyConfig } from '../testing/tiny-model.ts'

const vocabulary = tinyConfig.vocab_size
const rows = [Int32Array.of(3, 10, 5, 7), Int32Array.of(4, 9), Int32Array.of(8, 1, 2)]

test.each([1, 2])(
  'entropies are those of what forward says of every word, on %i threads',
  async (threads) => {
    const backend = createLocalBackend({ config: tinyConfig, seed: 3, threads })
    const temperatures = rows.map((row, i) => new Float32Array(row.length).fill(i === 1 ? 1 : 0.5))
    const entropies = await backend.entropies!(rows, { temperatures })
    expect(entropies.map((values) => values.length)).toEqual([4, 2, 3])
    for (const [i, row] of rows.entries())
      for (let t = 1; t < row.length; t++) {
        const words = Array.from({ length: vocabulary }, (_, word) =>
          Int32Array.of(...row.subarray(0, t), word),
        )
        const heat = words.map((word) => new Float32Array(word.length).fill(temperatures[i][t]))
        const logprobs = await backend.forward(words, { temperatures: heat })
        const entropy = logprobs.reduce((sum, values) => sum - Math.exp(values[t]) * values[t], 0)
        expect(entropies[i][t]).toBeCloseTo(entropy, 4)
      }
    expect(entropies.map((values) => values[0])).toEqual([0, 0, 0])
    await backend.dispose()
  },
)

test('a backend that cannot compute entropies is named', async () => {
  await expect(sequenceEntropies({}, [{ tokens: rows[0] }])).rejects.toMatchObject({ code: 'unsupported' })
})
