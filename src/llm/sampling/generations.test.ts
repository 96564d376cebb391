import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { readCheckpoint } from '../checkpoint/checkpoint.ts'
import { createSampler } from './sampler.ts'

// Greedy tokens of transformers' `generate`; make_generations.py beside them says how.
const kinds = JSON.parse(
  readFileSync(new URL('../golden/generations.json', import.meta.url), 'utf8'),
) as Record<string, { prompt: number[]; tokens: number[] }[]>

for (const [kind, rows] of Object.entries(kinds)) {
  test(`${kind}: 72 greedy tokens are those of transformers, in a batch, as rows come and alone`, async () => {
    const folder = fileURLToPath(new URL(`../golden/checkpoints/${kind}`, import.meta.url))
    const { config: saved, parameters } = await readCheckpoint(folder)
    const config = { ...saved, max_position_embeddings: 160 }
    const sampler = createSampler({ config, parameters, cacheBytes: 2 ** 24 })
    const requests = rows.map(({ prompt }, key) => ({ prompt: Int32Array.from(prompt), key }))
    const options = { maxTokens: 72, stop: [], temperature: 0, seed: 0 }
    const expected = rows.map(({ tokens }) => tokens)
    expect(new Set(rows.map(({ prompt }) => prompt.length)).size).toBe(6)
    const outputs = await sampler.sample(requests, options, 0)
    expect(outputs.map(({ tokens }) => [...tokens])).toEqual(expected)
    sampler.clear()
    const batched = await Promise.all(requests.map((request) => sampler.sample([request], options, 0, true)))
    expect(batched.map(([{ tokens }]) => [...tokens])).toEqual(expected)
    sampler.clear()
    const [alone] = await sampler.sample([requests[3]], options, 0)
    expect([...alone.tokens]).toEqual(expected[3])
    await sampler.dispose()
  })
}
