import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { readSafetensors } from '../../engine/nn/index.ts'
import { readCheckpoint, writeCheckpoint } from './checkpoint.ts'
import { createLearner } from '../backend/learner.ts'
import { loadLocalBackend } from '../backend/local-backend.ts'
import { createSampler } from '../sampling/sampler.ts'
import { crossEntropy, logitsOf } from '../testing/tiny-model.ts'

interface Expected {
  tokens: number[][]
  logits: number[]
  loss: number
  gradientNorms: Record<string, number>
  greedy: { prompt: number[]; tokens: number[] }[]
}

// Folders that transformers saved; make_checkpoints.py beside them says how.
const families = ['llama3', 'llama-bias', 'qwen2', 'qwen2-yarn', 'qwen3', 'qwen3-bias']
const folderOf = (family: string): string =>
  fileURLToPath(new URL(`../golden/checkpoints/${family}`, import.meta.url))
const expectedOf = (family: string) =>
  JSON.parse(readFileSync(join(folderOf(family), 'expected.json'), 'utf8')) as Expected
const scratch = mkdtempSync(join(tmpdir(), 'agoge-checkpoints-'))
afterAll(() => rmSync(scratch, { recursive: true }))

for (const family of families) {
  const expected = expectedOf(family)

  test(`${family}: logits, gradients and greedy tokens are those of transformers`, async () => {
    const checkpoint = await readCheckpoint(folderOf(family))
    const { config, parameters } = checkpoint
    const logits = await logitsOf(checkpoint, expected.tokens)
    const worst = Math.max(...expected.logits.map((value, i) => Math.abs(value - logits[i])))
    expect(worst).toBeLessThan(1e-4)

    const learner = createLearner({ config, parameters, tokenBudget: 50 })
    const { loss } = await learner.forwardBackward(
      expected.tokens.map((tokens) => crossEntropy(tokens)),
      {
        name: 'cross_entropy',
      },
    )
    expect(loss).toBeCloseTo(expected.loss, 3)
    expect(parameters.layout.entries.map(({ name }) => name).sort()).toEqual(
      Object.keys(expected.gradientNorms).sort(),
    )
    for (const { name, offset, size } of parameters.layout.entries) {
      const norm = Math.hypot(...learner.gradient.subarray(offset, offset + size))
      expect(Math.abs(norm / expected.gradientNorms[name] - 1), name).toBeLessThan(1e-3)
    }
    await learner.dispose()

    const sampler = createSampler({ config, parameters, cacheBytes: 2 ** 24 })
    const requests = expected.greedy.map(({ prompt }, key) => ({ prompt: Int32Array.from(prompt), key }))
    const options = { maxTokens: 20, stop: [1], temperature: 0, seed: 0 }
    const outputs = await sampler.sample(requests, options, 0)
    expect(outputs.map(({ tokens }) => [...tokens])).toEqual(expected.greedy.map(({ tokens }) => tokens))
    // With a cache of what was read before, prompts go on through another program.
    const long = requests.map((_, i) => i).filter((i) => outputs[i].tokens.length > 9)
    expect(long.length).toBeGreaterThan(1)
    const continued = long.map((i) => ({
      prompt: Int32Array.from([...requests[i].prompt, ...outputs[i].tokens.subarray(0, 9)]),
      key: i,
    }))
    const rest = await sampler.sample(continued, options, 0)
    for (const [place, i] of long.entries()) {
      const expectedRest = outputs[i].tokens.subarray(9)
      expect(rest[place].tokens.subarray(0, expectedRest.length)).toEqual(expectedRest)
    }
    await sampler.dispose()
  })

  test(`${family}: saving restores what was read: as one file, in shards and in half precision`, async () => {
    const checkpoint = await readCheckpoint(folderOf(family))
    const folder = join(scratch, family)
    // Stored as halves, the numbers are halves of the same type; nothing is lost in writing them again.
    const type =
      family === 'llama3' ? 'F32' : family === 'llama-bias' || family === 'qwen2-yarn' ? 'F16' : 'BF16'
    for (const shardBytes of [undefined, 5000]) {
      await writeCheckpoint(folder, checkpoint, type, shardBytes)
      const files = readdirSync(folder).filter((name) => name.endsWith('.safetensors'))
      expect(files.length > 1).toBe(shardBytes !== undefined)
      const again = await readCheckpoint(folder)
      expect(again.config).toEqual(checkpoint.config)
      expect(again.parameters.data).toEqual(checkpoint.parameters.data)
      const names = files.flatMap((name) =>
        Object.keys(readSafetensors(readFileSync(join(folder, name))).tensors),
      )
      expect(names.sort()).toEqual(Object.keys(expected.gradientNorms).sort())
    }
  })
}

test('a public checkpoint trains over threads, is saved, and resumes', async () => {
  const expected = expectedOf('qwen3')
  const sequences = expected.tokens.map((tokens) => crossEntropy(tokens))
  const model = await loadLocalBackend(folderOf('qwen3'), { threads: 2 })
  const { loss } = await model.forwardBackward(sequences, { name: 'cross_entropy' })
  expect(loss).toBeCloseTo(expected.loss, 3)
  const { gradientNorm } = await model.optimStep({ learningRate: 1e-2, weightDecay: 0.1 })
  const whole = Math.hypot(...Object.values(expected.gradientNorms))
  expect(Math.abs(gradientNorm / whole - 1)).toBeLessThan(1e-3)
  const folder = join(scratch, 'trained')
  await model.save(folder)
  const again = await loadLocalBackend(folder, { threads: 1 })
  expect(again.weightVersion).toBe(1)
  expect(again.parameters.data).toEqual(model.parameters.data)
  const reports = []
  for (const each of [model, again]) {
    reports.push(await each.forwardBackward(sequences, { name: 'cross_entropy' }))
    await each.optimStep({ learningRate: 1e-2, optimizer: 'muon' })
  }
  expect(reports[0].loss).toBeLessThan(loss)
  expect(reports[1].loss).toBeCloseTo(reports[0].loss, 3)
  await expect(again.load(folderOf('qwen2'))).rejects.toThrow('another architecture in model_type')
  await Promise.all([model.dispose(), again.dispose()])
})

test('companion files of a checkpoint are saved unchanged', async () => {
  const from = join(scratch, 'with-texts')
  cpSync(folderOf('qwen2'), from, { recursive: true })
  const tokenizers = JSON.parse(
    readFileSync(new URL('../golden/tokenizers.json', import.meta.url), 'utf8'),
  ) as Record<string, { json: object }>
  const texts = {
    'tokenizer.json': JSON.stringify(tokenizers['qwen2'].json, null, 1),
    'tokenizer_config.json': '{ "eos_token": "<|im_end|>",  "chat_template": "x" }\n',
    'generation_config.json': '{"eos_token_id": [1, 2]}',
  }
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(from, name), text)
  const to = join(scratch, 'with-texts-again')
  await writeCheckpoint(to, await readCheckpoint(from))
  for (const [name, text] of Object.entries(texts)) expect(readFileSync(join(to, name), 'utf8')).toBe(text)
})

test('errors name missing shards and tensors, wrong shapes and types, and the file', async () => {
  const broken = async (family: string, change: (folder: string) => void): Promise<unknown> => {
    const folder = mkdtempSync(join(scratch, 'broken-'))
    cpSync(folderOf(family), folder, { recursive: true })
    change(folder)
    return readCheckpoint(folder).then(
      () => expect.unreachable(),
      (error: unknown) => error,
    )
  }
  const weights = 'model.safetensors'
  const header = (folder: string, file: string, change: (text: string) => string): void => {
    const bytes = readFileSync(join(folder, file))
    const length = Number(bytes.readBigUInt64LE())
    const changed = change(bytes.toString('utf8', 8, 8 + length)).padEnd(length)
    expect(changed).toHaveLength(length)
    bytes.write(changed, 8)
    writeFileSync(join(folder, file), bytes)
  }
  const shards = readdirSync(folderOf('qwen3')).filter((name) => /^model-.*safetensors$/.test(name))
  expect(shards.length).toBeGreaterThan(1)

  const code = 'bad-checkpoint'
  const missingShard = await broken('qwen3', (folder) => rmSync(join(folder, shards[1])))
  expect(missingShard).toMatchObject({
    code,
    message: expect.stringContaining(`${shards[1]}: the shard is missing`),
  })
  const missingFile = await broken('qwen2', (folder) => rmSync(join(folder, weights)))
  expect(missingFile).toMatchObject({ code, message: expect.stringContaining(weights) })
  const renamed = await broken('qwen2', (folder) =>
    header(folder, weights, (text) => text.replace('model.norm.weight', 'model.nrom.weight')),
  )
  expect(renamed).toMatchObject({ code, message: expect.stringContaining('model.nrom.weight has no place') })
  const missingTensor = await broken('qwen2', (folder) =>
    header(folder, weights, (text) => text.replace('model.norm.weight', 'lm_head.weight')),
  )
  expect(missingTensor).toMatchObject({
    code,
    message: expect.stringMatching(/model\.safetensors: the tensor model\.norm\.weight is missing/),
  })
  const promised = await broken('qwen3', (folder) => {
    const file = join(folder, 'model.safetensors.index.json')
    const index = JSON.parse(readFileSync(file, 'utf8')) as { weight_map: Record<string, string> }
    index.weight_map['model.norm.weight'] = shards[0]
    index.weight_map['model.embed_tokens.weight'] = shards[1]
    writeFileSync(file, JSON.stringify(index))
  })
  expect(promised).toMatchObject({ code, message: expect.stringContaining('is missing') })
  const shape = await broken('qwen2', (folder) =>
    header(folder, weights, (text) => text.replace('"shape":[40,16]', '"shape":[16,40]')),
  )
  expect(shape).toMatchObject({
    code,
    message: expect.stringContaining('model.embed_tokens.weight has another shape'),
    given: [16, 40],
  })
  const type = await broken('qwen2', (folder) =>
    header(folder, weights, (text) => text.replace('"BF16"', '"I16" ')),
  )
  expect(type).toMatchObject({ code, message: expect.stringContaining('has a type'), given: 'I16' })
  const cut = await broken('qwen2', (folder) => {
    const bytes = readFileSync(join(folder, weights))
    writeFileSync(join(folder, weights), bytes.subarray(0, bytes.length - 100))
  })
  expect(cut).toMatchObject({ code, message: expect.stringContaining('cut off') })
  const notFinite = await broken('qwen2', (folder) => {
    const file = join(folder, weights)
    const bytes = readFileSync(file)
    // The last tensor's last number, as a NaN of bfloat16.
    bytes.writeUInt16LE(0x7fc0, bytes.length - 2)
    writeFileSync(file, bytes)
  })
  expect(notFinite).toMatchObject({ code, message: expect.stringMatching(/model\..* not finite/) })
  const pointer = await broken('qwen2', (folder) =>
    writeFileSync(
      join(folder, weights),
      'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n',
    ),
  )
  expect(pointer).toMatchObject({ code, message: expect.stringContaining('pointer of Git LFS') })
  const outside = await broken('qwen3', (folder) =>
    writeFileSync(
      join(folder, 'model.safetensors.index.json'),
      '{"weight_map":{"model.norm.weight":"../x.safetensors"}}',
    ),
  )
  expect(outside).toMatchObject({ code, message: expect.stringContaining('weight_map') })
})
