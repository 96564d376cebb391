import { expect, test } from 'vitest'
import { createLocalBackend } from '../backend/local-backend.ts'
import { trainTokenizer } from '../tokenizer/bpe-train.ts'
import { encodeMessage, specialTokens } from '../tokenizer/template.ts'
import { createTokenizer } from '../tokenizer/tokenizer.ts'
import { validateArguments } from '../../untrusted/validate.ts'
import type { ToolSpec } from '../tool/tool.ts'
import { createLocalActor } from './local-actor.ts'

const corpus = ['read the file notes and say what it holds', '{"name":"read","arguments":{"path":"/notes"}}']
const tokenizer = createTokenizer(trainTokenizer(corpus, { vocabularySize: 300, specialTokens }))
const tools: ToolSpec[] = [
  {
    name: 'read',
    inputSchema: {
      type: 'object',
      properties: { path: { type: 'string' }, lines: { type: 'integer', minimum: 1, maximum: 40 } },
      required: ['path'],
    },
  },
  { name: 'list', inputSchema: { type: 'object', properties: {} } },
]

test('with a grammar an untrained model writes only complete, valid calls', async () => {
  const config = {
    vocab_size: tokenizer.vocabularySize,
    hidden_size: 16,
    num_hidden_layers: 1,
    num_attention_heads: 2,
    num_key_value_heads: 2,
    intermediate_size: 16,
    rope_theta: 10_000,
    rms_norm_eps: 1e-5,
    tie_word_embeddings: false,
    max_position_embeddings: 256,
  }
  const backend = createLocalBackend({ config, seed: 1, tokenizer, threads: 1 })
  const message = encodeMessage(tokenizer, { role: 'user', text: 'read the file' })
  const nodes = [
    { id: 0, parent: null, agent: 'agent', role: 'user' as const, text: '', tokens: message.tokens },
  ]
  const requests = Array.from({ length: 60 }, (_, i) => ({ episode: `e${i}`, turn: 0, nodes, tools }))
  const play = async (constrained: boolean) => {
    const common = { backend, tokenizer, sampling: { temperature: 1.2 }, seed: 4, maxTokensPerTurn: 120 }
    const acts = await createLocalActor({ ...common, constrained }).act(requests, {})
    return acts.map((act) => (act instanceof Error ? expect.unreachable() : act))
  }
  const acts = await play(true)
  const calls = acts.flatMap((act) => act.calls)
  expect(calls.length).toBeGreaterThan(10)
  for (const { invalid, finish } of acts) {
    expect(invalid).toBeUndefined()
    expect(finish).toBe('stop')
  }
  for (const { name, arguments: given } of calls) {
    const tool = tools.find((spec) => spec.name === name)!
    expect(validateArguments(tool.inputSchema, given)).toBeUndefined()
  }
  expect((await play(false)).some(({ invalid }) => invalid !== undefined)).toBe(true)
  await backend.dispose()
})
