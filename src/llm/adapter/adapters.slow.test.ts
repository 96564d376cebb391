import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { createRandom } from '../../engine/random/index.ts'
import { readSafetensors, writeSafetensors } from '../../engine/nn/index.ts'
import type { ModelBackend, OptimStep } from '../model-backend.ts'
import { loadModel } from '../backend/base-model.ts'
import { readCheckpoint } from '../checkpoint/checkpoint.ts'
import { createLocalBackend, loadLocalBackend } from '../backend/local-backend.ts'
import { crossEntropy, logitsOf, tinyConfig } from '../testing/tiny-model.ts'
import type { LoraOptions } from './lora.ts'
import { readAdapter } from './peft.ts'

interface Expected {
  tokens: number[][]
  logits: number[]
  loss: number
  gradients: Record<string, number[]>
}

const golden = fileURLToPath(new URL('../golden', import.meta.url))
const base = join(golden, 'checkpoints', 'qwen3')
// Made with PEFT; make_adapters.py says how.
const adapterFolder = (name: string): string => join(golden, 'adapters', name)
const scratch = mkdtempSync(join(tmpdir(), 'agoge-adapters-'))
afterAll(() => rmSync(scratch, { recursive: true }))

const worst = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  expect(a.length).toBe(b.length)
  return Math.max(...Array.from(a, (value, i) => Math.abs(value - b[i])))
}

/** Sentences that can be learnt: each token is the one before plus 3. */
async function train(backend: ModelBackend, from: number, to: number, step: Partial<OptimStep> = {}) {
  const losses = []
  for (let i = from; i < to; i++) {
    const batch = [0, 1, 2, 3].map((n) => {
      const start = createRandom(4 * i + n).int(20)
      return crossEntropy(
        Array.from({ length: 12 }, (_, t) => (start + 3 * t) % 20),
        1 / 48,
      )
    })
    losses.push((await backend.forwardBackward(batch, { name: 'cross_entropy' })).loss)
    await backend.optimStep({ learningRate: 0.02, clip: 1, ...step })
  }
  return losses
}

for (const name of ['everywhere', 'some']) {
  const expected = JSON.parse(readFileSync(join(adapterFolder(name), 'expected.json'), 'utf8')) as Expected

  test(`${name}: an adapter of PEFT gives the same logits and gradients as in PEFT`, async () => {
    const { config, parameters } = await readCheckpoint(base)
    const adapter = await readAdapter(adapterFolder(name), parameters)
    expect(worst(await logitsOf({ config, parameters }, expected.tokens), expected.logits)).toBeLessThan(1e-4)

    const backend = createLocalBackend({ config, parameters, adapter, threads: 1 })
    const sequences = expected.tokens.map((tokens) => crossEntropy(tokens))
    const { loss } = await backend.forwardBackward(sequences, { name: 'cross_entropy' })
    expect(loss).toBeCloseTo(expected.loss, 3)
    // A step of a sort that shows the gradient: with these settings the first of AdamW's averages is a tenth of it.
    await backend.optimStep({ learningRate: 0, beta1: 0.9 })
    const folder = join(scratch, `gradient-${name}`)
    await backend.save(folder)
    const file = join(folder, 'optimizer.safetensors')
    const { first } = readSafetensors(readFileSync(file), file).tensors
    for (const [key, values] of Object.entries(expected.gradients)) {
      const { offset, size } = adapter.layout.entries.find((entry) => entry.name === key)!
      const found = first.data.subarray(offset, offset + size).map((value) => 10 * value)
      expect(worst(found, values), key).toBeLessThan(1e-3)
    }
    await backend.dispose()
  })
}

test('an adapter survives reading and writing, with PEFT’s names', async () => {
  const backend = await loadLocalBackend(base, { adapter: adapterFolder('everywhere'), threads: 1 })
  const folder = join(scratch, 'written')
  await backend.exportAdapter(folder, { base: 'qwen3' })
  const read = (from: string) =>
    readSafetensors(readFileSync(join(from, 'adapter_model.safetensors'))).tensors
  expect(read(folder)).toEqual(read(adapterFolder('everywhere')))
  const config = (from: string) =>
    JSON.parse(readFileSync(join(from, 'adapter_config.json'), 'utf8')) as Record<string, unknown>
  const peft = config(adapterFolder('everywhere'))
  for (const [field, value] of Object.entries(config(folder)))
    if (field !== 'target_modules') expect(peft[field], field).toEqual(value)
  expect(new Set(config(folder)['target_modules'] as string[])).toEqual(
    new Set(peft['target_modules'] as string[]),
  )
  await backend.dispose()
})

test('an adapter of some blocks uses full module names, one of all blocks uses their common suffixes', async () => {
  const targetsOf = async (lora: LoraOptions) => {
    const backend = createLocalBackend({
      config: { ...tinyConfig, num_hidden_layers: 3 },
      trainable: { lora },
    })
    const folder = mkdtempSync(join(scratch, 'targets-'))
    await backend.exportAdapter(folder)
    await backend.dispose()
    const text = readFileSync(join(folder, 'adapter_config.json'), 'utf8')
    return (JSON.parse(text) as { target_modules: string[] }).target_modules
  }
  const targets = ['q_proj', 'down_proj']
  const whole = (layer: number) => [
    `model.layers.${layer}.self_attn.q_proj`,
    `model.layers.${layer}.mlp.down_proj`,
  ]
  // By `q_proj` alone PEFT would adapt the other blocks, too.
  expect(await targetsOf({ rank: 1, targets, layers: [0] })).toEqual(whole(0))
  expect(await targetsOf({ rank: 1, targets, layers: [0, 1] })).toEqual([...whole(0), ...whole(1)])
  expect(await targetsOf({ rank: 1, targets, layers: [2] })).toEqual(whole(2))
  expect(await targetsOf({ rank: 1, targets })).toEqual(targets)
})

test('LoRA learns, changes only its modules, and the merged export equals the trained model', async () => {
  const backend = createLocalBackend({
    config: tinyConfig,
    seed: 1,
    threads: 1,
    trainable: { lora: { rank: 4, targets: ['q_proj', 'up_proj', 'down_proj'], layers: [1] } },
  })
  const before = Float32Array.from(backend.parameters.data)
  const losses = await train(backend, 0, 60, { learningRate: 0.1 })
  // Not by more: the frozen output matrix of random weights is small, and so are logits.
  expect(losses.at(-1)).toBeLessThan(losses[0] - 0.25)
  for (const { name, offset, size } of backend.parameters.layout.entries) {
    const adapted = /layers\.1\..*(q_proj|up_proj|down_proj)/.test(name)
    const moved = before
      .subarray(offset, offset + size)
      .some((value, i) => value !== backend.parameters.data[offset + i])
    expect(moved, name).toBe(adapted)
  }
  await backend.export(join(scratch, 'merged'))
  const merged = await loadLocalBackend(join(scratch, 'merged'), { threads: 1 })
  expect(merged.parameters.data).toEqual(backend.parameters.data)
  expect(merged.adapter).toBeUndefined()
  await Promise.all([backend.dispose(), merged.dispose()])
})

const ways = {
  lora: { lora: { rank: 2, rankStabilised: true } },
  tensors: { tensors: ['model.layers.1.*', 'model.norm.weight'] },
}
for (const [name, trainable] of Object.entries(ways)) {
  test(`${name}: a resumed run ends with the same weights, bit for bit`, async () => {
    for (const optimizer of ['adamw', 'muon'] as const) {
      const options = { config: tinyConfig, seed: 2, threads: 1, trainable }
      const straight = createLocalBackend(options)
      await train(straight, 0, 6, { optimizer })
      const first = createLocalBackend(options)
      await train(first, 0, 3, { optimizer })
      const folder = join(scratch, `${name}-${optimizer}`)
      await first.save(folder)
      // In a process of its own, and into a backend that is there.
      const second = await loadLocalBackend(folder, { threads: 1 })
      await train(second, 3, 6, { optimizer })
      expect(second.parameters.data).toEqual(straight.parameters.data)
      await train(first, 3, 5, { optimizer })
      await first.load(folder)
      await train(first, 3, 6, { optimizer })
      expect(first.parameters.data).toEqual(straight.parameters.data)
      await Promise.all([straight, first, second].map((each) => each.dispose()))
    }
  })
}

test('a model to train on with an adapter, as agoge train --lora loads it', async () => {
  const { backend, tokenizer } = await loadModel(undefined, { trainable: { lora: { rank: 2 } } })
  expect(backend.adapter?.settings).toMatchObject({ rank: 2, alpha: 32 })
  expect(backend.adapter?.settings.modules).toHaveLength(7 * backend.config.num_hidden_layers)
  expect(tokenizer.model).toBeDefined()
  await backend.dispose()
})

test('partial fine-tuning trains the named tensors and keeps averages only for them', async () => {
  const backend = createLocalBackend({
    config: tinyConfig,
    seed: 3,
    threads: 1,
    trainable: { tensors: ['model.layers.1.mlp.*', 'model.norm.weight'] },
  })
  const before = Float32Array.from(backend.parameters.data)
  await train(backend, 0, 2)
  let chosen = 0
  for (const { name, offset, size } of backend.parameters.layout.entries) {
    const named = /layers\.1\.mlp|model\.norm/.test(name)
    if (named) chosen += size
    const moved = before
      .subarray(offset, offset + size)
      .some((value, i) => value !== backend.parameters.data[offset + i])
    expect(moved, name).toBe(named)
  }
  await backend.save(join(scratch, 'partial'))
  const { optimizer, tensors } = await readCheckpoint(join(scratch, 'partial'))
  expect(optimizer?.first.length).toBe(chosen)
  expect(tensors).toHaveLength(4)
  await expect(backend.exportAdapter(join(scratch, 'none'))).rejects.toThrow('there is no adapter')
  await backend.dispose()
})

test('weights written from outside become the base of the adapter', async () => {
  const backend = createLocalBackend({ config: tinyConfig, seed: 4, threads: 1, trainable: ways.lora })
  await train(backend, 0, 3)
  const written = backend.parameters.data.map((value) => value * 0.5)
  backend.parameters.data.set(written)
  backend.weightsChanged()
  await train(backend, 3, 4, { learningRate: 0 })
  expect(worst(backend.parameters.data, written)).toBeLessThan(1e-6)
  await backend.dispose()
})

test('invalid options and files are named', async () => {
  const make = (trainable: NonNullable<Parameters<typeof createLocalBackend>[0]['trainable']>) => () =>
    createLocalBackend({ config: tinyConfig, trainable })
  const code = 'bad-lora'
  expect(make({ lora: { rank: 0 } })).toThrow(expect.objectContaining({ code, given: 0 }))
  expect(make({ lora: { rank: 1, alpha: -1 } })).toThrow(expect.objectContaining({ code, given: -1 }))
  expect(make({ lora: { rank: 1, targets: ['lm_head'] } })).toThrow(
    expect.objectContaining({ code, given: 'lm_head' }),
  )
  expect(make({ lora: { rank: 1, layers: [9] } })).toThrow(expect.objectContaining({ code, given: 9 }))
  expect(make({ tensors: ['model.layers.1.*', 'lm_head.*'] })).toThrow(
    expect.objectContaining({ code: 'bad-trainable', given: 'lm_head.*' }),
  )

  const broken = async (change: (config: Record<string, unknown>, folder: string) => void) => {
    const folder = mkdtempSync(join(scratch, 'broken-'))
    cpSync(adapterFolder('everywhere'), folder, { recursive: true })
    const file = join(folder, 'adapter_config.json')
    const config = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    change(config, folder)
    writeFileSync(file, JSON.stringify(config))
    const { parameters } = await readCheckpoint(base)
    const before = Float32Array.from(parameters.data)
    const error: unknown = await readAdapter(folder, parameters).then(
      () => expect.unreachable(),
      (thrown: unknown) => thrown,
    )
    expect(parameters.data).toEqual(before)
    return error
  }
  expect(await broken((config) => (config['use_dora'] = true))).toMatchObject({
    code: 'unsupported-adapter',
    message: expect.stringContaining('use_dora'),
  })
  expect(await broken((config) => (config['rank_pattern'] = { q_proj: 4 }))).toMatchObject({
    code: 'unsupported-adapter',
  })
  expect(await broken((config) => (config['r'] = 4))).toMatchObject({
    code: 'bad-checkpoint',
    message: expect.stringContaining('lora_A.weight does not have the rank of adapter_config.json'),
  })
  const without = (part: string) => (_: unknown, folder: string) => {
    const file = join(folder, 'adapter_model.safetensors')
    const { tensors } = readSafetensors(readFileSync(file))
    const name = `base_model.model.model.layers.0.mlp.up_proj.${part}.weight`
    const { [name]: dropped, ...rest } = tensors
    expect(dropped).toBeDefined()
    writeFileSync(file, writeSafetensors(rest))
  }
  expect(await broken(without('lora_B'))).toMatchObject({
    message: expect.stringContaining('up_proj.lora_B.weight is missing'),
  })
  expect(await broken((_, folder) => rmSync(join(folder, 'adapter_model.safetensors')))).toMatchObject({
    message: expect.stringContaining('cannot be read'),
  })

  const lora = createLocalBackend({ config: tinyConfig, threads: 1, trainable: ways.lora })
  const whole = createLocalBackend({ config: tinyConfig, threads: 1 })
  await lora.save(join(scratch, 'of-lora'))
  await expect(whole.load(join(scratch, 'of-lora'))).rejects.toThrow('a training of other weights')
  await Promise.all([lora.dispose(), whole.dispose()])
})
