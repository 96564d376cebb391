import { array, assert, asyncProperty, constantFrom, integer, tuple } from 'fast-check'
import { expect, test } from 'vitest'
import { createRandom } from '../../engine/random/index.ts'
import { validateArguments } from '../../untrusted/validate.ts'
import { packTexts } from '../grammar/cursor.ts'
import { anySchema } from '../grammar/testing/schemas.ts'
import { initialiseParameters } from '../model/parameters.ts'
import { createSampler } from './sampler.ts'
import { tinyConfig } from '../testing/tiny-model.ts'

// Every byte is a token; so are some longer texts and, at the end, a marker.
const longer = ['{"', '":', '"}', '",', 'tru', '1,', '[]', '"a":', '\\"']
const texts = packTexts([
  ...Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)),
  ...longer.map((text) => new TextEncoder().encode(text)),
  undefined,
])
const end = texts.markers.length - 1
const config = { ...tinyConfig, vocab_size: end + 1, max_position_embeddings: 128 }

test('random weights under random schemas give only valid JSON', async () => {
  const parameters = initialiseParameters(config, 5)
  const random = createRandom(3)
  const sampler = createSampler({ config, parameters, cacheBytes: 2 ** 23 })
  sampler.setTexts(texts)
  let whole = 0
  let all = 0
  await assert(
    asyncProperty(
      array(tuple(anySchema, constantFrom(0, 0.4, 1, 2.5)), { minLength: 1, maxLength: 6 }),
      integer({ min: 0, max: 1000 }),
      async (asked, seed) => {
        for (let i = 0; i < parameters.data.length; i++) parameters.data[i] = 0.3 * random.normal()
        sampler.clear()
        const requests = asked.map(([schema, temperature], key) => ({
          prompt: Int32Array.of(65 + key),
          key,
          temperature,
          grammar: { schema },
        }))
        const outputs = await sampler.sample(
          requests,
          { maxTokens: 60, stop: [end], temperature: 1, seed },
          0,
        )
        for (const [i, { tokens, finish }] of outputs.entries()) {
          all++
          // Only where the shortest text is longer than the limit.
          if (finish !== 'stop') continue
          whole++
          const bytes = [...tokens].flatMap((id) => [
            ...texts.bytes.subarray(texts.starts[id], texts.starts[id + 1]),
          ])
          const text = Buffer.from(bytes).toString()
          const schema = { type: 'object', properties: { value: asked[i][0] } }
          const problem = validateArguments(schema, { value: JSON.parse(text) as unknown })
          expect(problem, `${JSON.stringify(asked[i][0])} ${text}`).toBeUndefined()
        }
      },
    ),
    { seed: 12, numRuns: 25 },
  )
  expect(whole).toBeGreaterThan(0.9 * all)
  await sampler.dispose()
})
