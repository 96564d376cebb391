import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { attentionBlocks } from '../model/blockwise-attention.ts'
import { readCheckpoint } from '../checkpoint/checkpoint.ts'
import { createLearner } from './learner.ts'
import { crossEntropy } from '../testing/tiny-model.ts'

// Made by golden/make_long_rows.py with transformers.
const golden = JSON.parse(
  readFileSync(new URL('../golden/long-rows.json', import.meta.url), 'utf8'),
) as Record<string, { logprobs: number[]; gradientNorms: Record<string, number> }>
const tokens = Int32Array.from({ length: 601 }, (_, i) => (31 * i * i + 7 * i) % 37)

test.each(Object.keys(golden))('%s: rows that attend in blocks are those of transformers', async (kind) => {
  expect(attentionBlocks(tokens.length - 1)).toBeGreaterThan(1)
  const folder = fileURLToPath(new URL(`../golden/checkpoints/${kind}`, import.meta.url))
  const { config: stored, parameters } = await readCheckpoint(folder)
  const config = { ...stored, max_position_embeddings: 640 }
  const learner = createLearner({ config, parameters, tokenBudget: 2048 })
  // Beside a shorter row, which is padded to it.
  const [found, short] = await learner.forward([tokens, tokens.slice(0, 90)])
  const { logprobs, gradientNorms } = golden[kind]
  const worst = Math.max(...logprobs.map((value, i) => Math.abs(found[i + 1] - value)))
  expect(worst).toBeLessThan(1e-4)
  expect(Math.max(...short.map((value, t) => Math.abs(value - found[t])))).toBeLessThan(1e-4)
  await learner.forwardBackward([crossEntropy(tokens, 1 / 600)], { name: 'cross_entropy' })
  for (const { name, offset, size } of parameters.layout.entries) {
    const norm = Math.hypot(...learner.gradient.subarray(offset, offset + size))
    expect(Math.abs(norm / gradientNorms[name] - 1), name).toBeLessThan(1e-3)
  }
  await learner.dispose()
})
