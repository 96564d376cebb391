import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { TrainingSequence } from '../episode/types.ts'
import { readSafetensors, writeSafetensors } from '../../engine/nn/index.ts'
import { createRandom } from '../../engine/random/index.ts'
import type { ModelBackend, OptimStep } from '../model-backend.ts'
import type { TransformerConfig } from '../model/config.ts'
import { createLocalBackend, loadLocalBackend } from './local-backend.ts'

const config: TransformerConfig = {
  vocab_size: 20,
  hidden_size: 16,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 2,
  intermediate_size: 24,
  rope_theta: 10_000,
  rms_norm_eps: 1e-5,
  tie_word_embeddings: true,
  max_position_embeddings: 64,
}
const folder = mkdtempSync(join(tmpdir(), 'agoge-backend-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Learnable sentences: each token is the previous one plus 3. */
function counting(seed: number): TrainingSequence {
  const start = createRandom(seed).int(20)
  const tokens = Int32Array.from({ length: 12 }, (_, t) => (start + 3 * t) % 20)
  const zero = () => new Float32Array(12)
  const ce = new Float32Array(12).fill(1 / 48, 1)
  return { tokens, logprobs: zero(), advantages: zero(), weights: { rl: zero(), ce, kl: zero() } }
}

async function train(
  backend: ModelBackend,
  from: number,
  to: number,
  step: Partial<OptimStep> = {},
): Promise<number[]> {
  const losses = []
  for (let i = from; i < to; i++) {
    const batch = [0, 1, 2, 3].map((n) => counting(4 * i + n))
    losses.push((await backend.forwardBackward(batch, { name: 'cross_entropy' })).loss)
    await backend.optimStep({ learningRate: 0.01, clip: 1, ...step })
  }
  return losses
}

test('both optimisers learn, and sampling uses the new weights', async () => {
  for (const optimizer of ['adamw', 'muon'] as const) {
    const backend = createLocalBackend({ config, seed: 1 })
    const losses = await train(backend, 0, 60, { optimizer })
    expect(losses[0]).toBeGreaterThan(2.5)
    expect(losses.at(-1)).toBeLessThan(0.3)
    const [output] = await backend.sample([{ prompt: Int32Array.of(2, 5, 8), key: 0 }], {
      maxTokens: 4,
      stop: [],
      temperature: 0,
      seed: 0,
    })
    expect([...output.tokens]).toEqual([11, 14, 17, 0])
    expect(output.weightVersion).toBe(60)
    await backend.dispose()
  }
})

test('a resumed run ends with the same weights, bit for bit', async () => {
  for (const optimizer of ['adamw', 'muon'] as const) {
    const straight = createLocalBackend({ config, seed: 2 })
    await train(straight, 0, 8, { optimizer })
    const first = createLocalBackend({ config, seed: 2 })
    await train(first, 0, 4, { optimizer })
    const at = join(folder, optimizer)
    await first.save(at)
    await first.save(at)
    const second = await loadLocalBackend(at)
    expect(second.weightVersion).toBe(4)
    await train(second, 4, 8, { optimizer })
    expect(second.parameters.data).toEqual(straight.parameters.data)
    expect(existsSync(`${at}.before`) || existsSync(`${at}.writing`)).toBe(false)
    await Promise.all([straight, first, second].map((each) => each.dispose()))
  }
})

test('a checkpoint without optimiser can generate but not resume', async () => {
  const backend = createLocalBackend({ config, seed: 2 })
  await train(backend, 0, 2, {})
  const at = join(folder, 'lost')
  await backend.save(at)
  const before = Float32Array.from(backend.parameters.data)
  for (const name of ['optimizer.safetensors', 'state.json']) {
    const kept = readFileSync(join(at, name))
    rmSync(join(at, name))
    await expect(backend.load(at)).rejects.toThrow(/has no optimiser state/)
    const acting = await loadLocalBackend(at)
    expect(acting.parameters.data).toEqual(before)
    await acting.dispose()
    writeFileSync(join(at, name), kept)
  }
  await backend.load(at)
  expect(backend.weightVersion).toBe(2)
  await backend.dispose()
})

test('a half-precision export loads to within its rounding, without optimiser', async () => {
  const backend = createLocalBackend({ config, seed: 3 })
  await backend.export(join(folder, 'half'), 'F16')
  const loaded = await loadLocalBackend(join(folder, 'half'))
  loaded.parameters.data.forEach((value, i) => {
    expect(Math.abs(value - backend.parameters.data[i])).toBeLessThan(1e-3)
  })
  expect(existsSync(join(folder, 'half', 'optimizer.safetensors'))).toBe(false)
  await Promise.all([backend.dispose(), loaded.dispose()])
})

test('a bad checkpoint is refused by file and tensor or field, and changes nothing', async () => {
  const backend = createLocalBackend({ config, seed: 4 })
  const at = join(folder, 'bad')
  const model = join(at, 'model.safetensors')
  await backend.save(at)
  // As checkpoints of earlier versions and of others are.
  rmSync(join(at, 'checksums.sha256'))
  const good = readFileSync(model)
  const { tensors } = readSafetensors(good)
  const before = Float32Array.from(backend.parameters.data)
  const refuses = async (text: string) => await expect(backend.load(at)).rejects.toThrow(text)

  const name = 'model.layers.1.mlp.up_proj.weight'
  const { [name]: dropped, ...rest } = tensors
  writeFileSync(model, writeSafetensors(rest))
  await refuses(`${name} is missing`)
  writeFileSync(model, writeSafetensors({ ...rest, [name]: { data: dropped.data, shape: [16, 24] } }))
  await refuses(`${name} has another shape`)
  writeFileSync(model, writeSafetensors({ ...tensors, 'model.layers.7.extra': dropped }))
  await refuses('model.layers.7.extra has no place')
  writeFileSync(model, good.subarray(0, good.length - 8))
  await refuses('model.safetensors')
  writeFileSync(model, good)
  const configFile = join(at, 'config.json')
  const described = readFileSync(configFile, 'utf8')
  writeFileSync(configFile, described.replace('"num_attention_heads": 2', '"num_attention_heads": 4'))
  await refuses('q_proj.weight has another shape')
  writeFileSync(configFile, described.replace('"silu"', '"gelu"'))
  await refuses('config.json: hidden_act')
  writeFileSync(configFile, described.replace('"llama"', '"qwen3"'))
  await refuses('model_type')
  writeFileSync(configFile, '{')
  await refuses('not JSON')
  await expect(backend.load(join(folder, 'nowhere'))).rejects.toThrow('config.json cannot be read')
  expect(backend.parameters.data).toEqual(before)
  await backend.dispose()
})

test('a failed write leaves the older checkpoint intact', async () => {
  const backend = createLocalBackend({ config, seed: 5 })
  const at = join(folder, 'older')
  await backend.save(at)
  // A file where the checkpoint would be put together cannot become a folder.
  const blocked = join(folder, 'file')
  writeFileSync(blocked, '')
  chmodSync(blocked, 0o400)
  await expect(backend.save(join(blocked, 'inside'))).rejects.toThrow('could not be written')
  await backend.load(at)
  await backend.dispose()
})

test('an abort stops an update and drops its gradient', async () => {
  const backend = createLocalBackend({ config, seed: 6, tokenBudget: 16 })
  const abort = new AbortController()
  const running = backend.forwardBackward(
    [0, 1, 2].map(counting),
    { name: 'cross_entropy' },
    { signal: abort.signal },
  )
  abort.abort()
  await expect(running).rejects.toThrow('abort')
  expect(await backend.optimStep({ learningRate: 0.01 })).toEqual({ gradientNorm: 0 })
  await backend.dispose()
})
