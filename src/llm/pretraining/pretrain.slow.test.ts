import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readChatModel } from '../agent/chat-format/open-format.ts'
import { smallConfig } from '../model/config.ts'
import { conversationSeed, corpusBatch } from './corpus-batches.ts'
import { corpusConversation } from './corpus/conversation.ts'
import { corpusTokenizer, pretrain } from './pretrain.ts'
import type { PretrainOptions } from './pretrain.ts'
import { evaluateSkills, evaluatedSkills } from './skill-evaluation.ts'
import { encodeConversation } from '../tokenizer/template.ts'

const root = mkdtempSync(join(tmpdir(), 'agoge-pretrain-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const tokenizer = corpusTokenizer(5, 320, 300)
const config = {
  ...smallConfig,
  vocab_size: 320,
  hidden_size: 16,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  num_key_value_heads: 2,
  intermediate_size: 32,
}
const small: PretrainOptions = {
  seed: 5,
  tokens: 16_000,
  config,
  tokenizer,
  batchTokens: 1600,
  evaluations: 0,
}

test('the loss falls', async () => {
  const losses: number[] = []
  const made = await pretrain({ ...small, learningRate: 0.02, onProgress: ({ loss }) => losses.push(loss) })
  await made.backend.dispose()
  expect(losses[0]).toBeCloseTo(Math.log(320), 0)
  expect(losses.at(-1)).toBeLessThan(losses[0] - 0.7)
  expect(made.tokens).toBeGreaterThanOrEqual(16_000)
  expect(made.steps).toBe(losses.length)
})

test('stopped and resumed, the weights are those of an uninterrupted run, bit for bit', async () => {
  const whole = await pretrain(small)
  const out = join(root, 'resumed')
  const controller = new AbortController()
  const stopped = pretrain({
    ...small,
    out,
    checkpointEvery: 2,
    signal: controller.signal,
    onProgress: ({ step }) => step === 5 && controller.abort(),
  })
  await expect(stopped).rejects.toThrow(/abort/i)
  const steps: number[] = []
  const resumed = await pretrain({
    ...small,
    out,
    resume: true,
    onProgress: ({ step }) => void steps.push(step),
  })
  expect(resumed.steps).toBe(whole.steps)
  expect(resumed.backend.parameters.data).toEqual(whole.backend.parameters.data)
  expect(steps).toEqual(Array.from({ length: whole.steps - 5 }, (_, i) => 6 + i))
  expect(resumed.tokens).toBe(whole.tokens)
  expect(readdirSync(join(out, 'checkpoints'))).toEqual(['final'])
  await whole.backend.dispose()
  await resumed.backend.dispose()
})

test('a second stage continues from the model of the first, with other conversations', async () => {
  const first = await pretrain({ ...small, tokens: 3200 })
  const { parameters } = first.backend
  const before = parameters.data.slice()
  const from = { config, tokenizer, parameters }
  const second = await pretrain({
    seed: 5,
    tokens: 3200,
    batchTokens: 1600,
    evaluations: 0,
    stage: 'decisions',
    from,
  })
  expect(second.backend.config).toEqual(config)
  expect(second.steps).toBeGreaterThan(1)
  expect(second.backend.parameters.data).not.toEqual(before)
  const options = { seed: 5, batchTokens: 1600, contextWeight: 0.1, longest: 320 }
  expect(corpusBatch(tokenizer, 0, { ...options, stage: 'decisions' }).sequences[0].tokens).not.toEqual(
    corpusBatch(tokenizer, 0, options).sequences[0].tokens,
  )
  await first.backend.dispose()
  await second.backend.dispose()
})

test('a model that has read described servers says so in its folder, one without does not', async () => {
  const first = await pretrain({ ...small, tokens: 1600 })
  const { parameters } = first.backend
  await first.backend.export(join(root, 'plain'))
  const second = await pretrain({
    seed: 5,
    tokens: 3200,
    batchTokens: 1600,
    evaluations: 0,
    stage: 'described',
    from: { config, tokenizer, parameters },
  })
  await second.backend.export(join(root, 'reads-tools'))
  expect(await readChatModel(join(root, 'plain'))).toBeUndefined()
  expect(await readChatModel(join(root, 'reads-tools'))).toMatchObject({
    window: 1024,
    format: { readsTools: true },
  })
  await first.backend.dispose()
  await second.backend.dispose()
})

test('a tokenizer of several stages has words of each', () => {
  const wide = corpusTokenizer(5, 600, 300, ['general', 'described'])
  const text = 'Tools:\nadd_note(title: string)'
  expect(wide.encode(text).length).toBeLessThan(corpusTokenizer(5, 600, 300).encode(text).length)
})

test('another pretraining is not resumed from', async () => {
  const out = join(root, 'other')
  const made = await pretrain({ ...small, tokens: 1600, out })
  await made.backend.dispose()
  await expect(pretrain({ ...small, tokens: 3200, out, resume: true })).rejects.toThrow(
    /started with other settings/,
  )
})

test('a batch holds whole conversations, weighted to a mean', () => {
  const options = { seed: 5, batchTokens: 2000, contextWeight: 0.25, longest: 200 }
  const first = corpusBatch(tokenizer, 0, options)
  expect(corpusBatch(tokenizer, 0, options)).toEqual(first)
  const total = first.sequences
    .flatMap(({ weights }) => [...weights.ce])
    .reduce((sum, weight) => sum + weight, 0)
  expect(total).toBeCloseTo(1, 4)
  expect(first.sequences.every(({ tokens }) => tokens.length <= 200)).toBe(true)
  expect(first.tokens).toBeGreaterThanOrEqual(2000)
  const encoded = Array.from({ length: first.next }, (_, i) =>
    encodeConversation(tokenizer, corpusConversation(conversationSeed(5, i))),
  )
  const kept = encoded.filter(({ tokens }) => tokens.length <= 200)
  expect(first.sequences.map(({ tokens }) => tokens)).toEqual(kept.map(({ tokens }) => tokens))
  const { ce } = first.sequences[0].weights
  const unit = Math.max(...ce)
  const ratios = [...ce].map((weight) => Math.round((100 * weight) / unit) / 100)
  expect(ratios.slice(1)).toEqual([...kept[0].mask].slice(1).map((mask) => (mask === 1 ? 1 : 0.25)))
})

test('skill evaluations find an untrained model helpless and one that knows the answers perfect', async () => {
  const made = await pretrain({ ...small, tokens: 1600 })
  const scores = await evaluateSkills(made.backend, tokenizer, { count: 3 })
  await made.backend.dispose()
  expect(Object.keys(scores)).toEqual(Object.keys(evaluatedSkills))
  expect(Object.values(scores)).toEqual(Object.values(scores).map(() => 0))

  // An oracle that continues any prefix of the given conversations.
  const known = new Map<string, Int32Array>()
  const firstTurns = new Set<string>()
  const recorder = { sample: async () => [] as never }
  await expect(evaluateSkills(recorder, tokenizer, { count: 1 })).rejects.toThrow()
  const { skillConversation } = await import('./corpus/conversation.ts')
  const end = tokenizer.special('<|end|>')
  for (const skill of Object.values(evaluatedSkills)) {
    const { tokens, mask } = encodeConversation(tokenizer, skillConversation(skill, 0, 'probe'))
    for (let i = 1, first = true; i < tokens.length; i += 1) {
      if (mask[i] !== 1 || mask[i - 1] !== 0) continue
      if (first) firstTurns.add(tokens.slice(0, i).join())
      first = false
      known.set(tokens.slice(0, i).join(), tokens.slice(i, tokens.indexOf(end, i) + 1))
    }
  }
  const oracle: Parameters<typeof evaluateSkills>[0] = {
    sample: async (requests) =>
      requests.map(({ prompt }) => {
        const tokens = known.get(prompt.join()) ?? new Int32Array(0)
        return {
          tokens,
          logprobs: new Float32Array(tokens.length),
          finish: 'stop' as const,
          weightVersion: 0,
        }
      }),
  }
  expect(new Set(Object.values(await evaluateSkills(oracle, tokenizer, { count: 1 })))).toEqual(new Set([1]))
  // Whoever knows only the first turn is right in that and in nothing longer.
  const opener: typeof oracle = {
    sample: (requests, options) =>
      oracle.sample(
        requests.map((request) =>
          firstTurns.has(request.prompt.join()) ? request : { ...request, prompt: new Int32Array(1) },
        ),
        options,
      ),
  }
  const names = ['two calls'] as const
  expect(await evaluateSkills(opener, tokenizer, { count: 1, names, firstTurn: true })).toEqual({
    'two calls': 1,
  })
  expect(await evaluateSkills(opener, tokenizer, { count: 1, names })).toEqual({ 'two calls': 0 })
})
