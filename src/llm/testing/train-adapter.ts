// node --import tsx src/llm/testing/train-adapter.ts CHECKPOINT ADAPTER: trains LoRA on a checkpoint, exports the adapter, and
// writes tokens with their logits beside it. golden/verify_adapter.py runs it and compares.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRandom } from '../../engine/random/index.ts'
import { loadLocalBackend } from '../backend/local-backend.ts'
import { crossEntropy, logitsOf } from './tiny-model.ts'

const [checkpoint, folder] = process.argv.slice(2)
const backend = await loadLocalBackend(checkpoint, { trainable: { lora: { rank: 8, alpha: 16 } } })
const { config, parameters } = backend
const random = createRandom(1)
/** Each token is the one before plus a step that the first two show. */
const sentence = (): number[] => {
  const [start, step] = [random.int(config.vocab_size), 1 + random.int(5)]
  return Array.from({ length: 24 }, (_, t) => (start + step * t) % config.vocab_size)
}
const losses: number[] = []
for (let i = 0; i < 100; i++) {
  const batch = Array.from({ length: 16 }, () => crossEntropy(sentence(), 1 / (16 * 23)))
  losses.push((await backend.forwardBackward(batch, { name: 'cross_entropy' })).loss)
  await backend.optimStep({ learningRate: 5e-3, clip: 1 })
}
await backend.exportAdapter(folder, { base: checkpoint })
await backend.export(`${folder}-merged`)
const tokens = Array.from({ length: 8 }, sentence)
const logits = await logitsOf({ config, parameters }, tokens)
writeFileSync(join(folder, 'ours.json'), JSON.stringify({ tokens, logits: [...logits], losses }))
await backend.dispose()
