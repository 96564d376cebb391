import { expect, test } from 'vitest'
import type { EpisodeNode } from '../episode/types.ts'
import { trainTokenizer } from '../tokenizer/bpe-train.ts'
import type { SampleOptions, SampleRequest } from '../model-backend.ts'
import { encodeConversation, encodeMessage, specialTokens } from '../tokenizer/template.ts'
import { createTokenizer } from '../tokenizer/tokenizer.ts'
import { createLocalActor } from './local-actor.ts'
import { createExpertActor } from './expert-actor.ts'

const corpus = ['read the file notes and say what it holds', '{"name":"read","arguments":{"path":"/notes"}}']
const tokenizer = createTokenizer(trainTokenizer(corpus, { vocabularySize: 300, specialTokens }))
const [end, call, user] = (['<|end|>', '<|call|>', '<|user|>'] as const).map((name) =>
  tokenizer.special(name),
)

/** A backend with prescribed draws. It records the requests. */
function backendSaying(outputs: number[][], finish: 'stop' | 'length' = 'stop') {
  const asked: { requests: SampleRequest[]; options: SampleOptions }[] = []
  return {
    asked,
    sample(requests: SampleRequest[], options: SampleOptions) {
      asked.push({ requests, options })
      return Promise.resolve(
        requests.map((_, i) => ({
          tokens: Int32Array.from(outputs[i]),
          logprobs: Float32Array.from(outputs[i], (_, at) => -1 - at),
          finish,
          weightVersion: 5,
        })),
      )
    },
  }
}

function nodesOf(...messages: Parameters<typeof encodeMessage>[1][]): EpisodeNode[] {
  return messages.map((message, id) => ({
    id,
    parent: id === 0 ? null : id - 1,
    agent: 'agent',
    role: message.role,
    text: message.text,
    tokens: encodeMessage(tokenizer, message).tokens,
  }))
}

async function actsOn(outputs: number[][], finish?: 'stop' | 'length') {
  const backend = backendSaying(outputs, finish)
  const actor = createLocalActor({
    backend,
    tokenizer,
    sampling: { temperature: 1 },
    seed: 11,
    maxTokensPerTurn: 32,
  })
  const nodes = nodesOf({ role: 'system', text: 'say' }, { role: 'user', text: 'read the file' })
  const requests = outputs.map((_, i) => ({ episode: `e${i}`, turn: 2, nodes, tools: [] }))
  const acts = await actor.act(requests, {})
  return {
    acts: acts.map((act) => (act instanceof Error ? expect.unreachable() : act)),
    backend,
    nodes,
    actor,
  }
}

const encode = (text: string): number[] => [...tokenizer.encode(text)]

test('the window is the nodes and a forced marker; streams are keyed by episode and turn', async () => {
  const { backend, nodes } = await actsOn([[end], [end]])
  const [{ requests, options }] = backend.asked
  const shown = nodes.flatMap((node) => [...node.tokens])
  expect([...requests[0].prompt]).toEqual([...shown, tokenizer.special('<|assistant|>')])
  expect(requests.map((request) => request.key)).toEqual(['e0:2', 'e1:2'])
  expect(options).toEqual({ maxTokens: 32, stop: [end], temperature: 1, seed: 11 })
})

test('an answer: tokens verbatim, forced marker without weight', async () => {
  // The letters of "read" one by one: a tokenisation that the encoder never produces.
  const letters = 'read'.split('').flatMap(encode)
  expect(letters).not.toEqual(encode('read'))
  const { acts } = await actsOn([[...letters, end]])
  expect(acts[0]).toMatchObject({ text: 'read', calls: [], finish: 'stop', weightVersion: 5 })
  expect(acts[0].invalid).toBeUndefined()
  expect([...acts[0].tokens]).toEqual([tokenizer.special('<|assistant|>'), ...letters, end])
  expect([...acts[0].mask]).toEqual([0, 1, 1, 1, 1, 1])
  expect([...acts[0].logprobs]).toEqual([0, -1, -2, -3, -4, -5])
})

test('calls are read exactly; damage and misplaced markers are invalid', async () => {
  const one = encode('{"name":"read","arguments":{"path":"/notes"}}')
  const { acts } = await actsOn([
    [call, ...one, call, ...encode('{"name":"b","arguments":{}}'), end],
    [...encode('I look'), call, ...one, end],
    [call, ...encode('{"name":"read","arguments":{"path":"/notes"}'), end],
    [call, end],
    [...encode('hi'), user, ...encode('you'), end],
    encode('<|call|>{"name":"read","arguments":{}}').concat(end),
  ])
  expect(acts[0].calls).toEqual([
    { id: '2.0', name: 'read', arguments: { path: '/notes' } },
    { id: '2.1', name: 'b', arguments: {} },
  ])
  expect(acts[1]).toMatchObject({ text: 'I look', calls: [{ name: 'read' }] })
  expect(acts.slice(2, 5).map((act) => [act.invalid, act.calls.length])).toEqual([
    ['the call is not JSON', 0],
    ['the call is not JSON', 0],
    ['a marker is out of place', 0],
  ])
  // Text that looks like a marker stays text.
  expect(acts[5]).toMatchObject({ calls: [], text: '<|call|>{"name":"read","arguments":{}}' })
})

test('an output cut off at the limit keeps its tokens', async () => {
  const { acts } = await actsOn([encode('read the')], 'length')
  expect(acts[0]).toMatchObject({ finish: 'length', text: 'read the' })
})

test('the local actor parses the expert’s tokens to the same acts', async () => {
  const args = { path: '/notes' }
  const plan = () => ({ call: { name: 'read', arguments: args } })
  const expert = createExpertActor({ tasks: new Map([['e', { plan }]]), tokenizer })
  const nodes = nodesOf({ role: 'user', text: 'read the file' })
  const [act, missing] = await expert.act(
    ['e', 'other'].map((episode) => ({ episode, turn: 0, nodes, tools: [] })),
    {},
  )
  expect(missing).toBeInstanceOf(Error)
  if (act instanceof Error) throw act
  const message = { role: 'assistant', text: '', calls: [{ name: 'read', arguments: args }] } as const
  expect([...act.tokens]).toEqual([
    ...encodeConversation(tokenizer, [{ ...message, calls: [...message.calls] }]).tokens,
  ])
  const { acts } = await actsOn([[...act.tokens.subarray(1)]])
  expect(acts[0].calls).toEqual([{ id: '2.0', name: 'read', arguments: args }])
})

test('a word before a call is read as text, the call as a call', async () => {
  const args = { path: '/notes' }
  const plan = () => ({ call: { name: 'read', arguments: args }, thought: 'yes' })
  const expert = createExpertActor({ tasks: new Map([['e', { plan }]]), tokenizer })
  const nodes = nodesOf({ role: 'user', text: 'read the file' })
  const [act] = await expert.act([{ episode: 'e', turn: 0, nodes, tools: [] }], {})
  if (act instanceof Error) throw act
  const { acts } = await actsOn([[...act.tokens.subarray(1)]])
  expect(acts[0]).toMatchObject({ text: 'yes', calls: [{ name: 'read', arguments: args }] })
})

test('marks of records are tokens of the expert and of the policy, and no part of what they say', async () => {
  const marking = createTokenizer({ ...tokenizer.model, recordMarks: true })
  const answer = 'name: notes, path: b'
  const expert = createExpertActor({
    tasks: new Map([['e', { plan: () => ({ answer }) }]]),
    tokenizer: marking,
  })
  const result = '[{"name":"file","path":"a"},{"name":"notes","path":"b"}]'
  const nodes = nodesOf({ role: 'user', text: 'read the file' }, { role: 'tool', text: result })
  const request = { episode: 'e', turn: 1, nodes, tools: [] }
  const [act] = await expert.act([request], {})
  if (act instanceof Error) throw act
  expect(act.tokens.filter((id) => id === marking.mark(2))).toHaveLength(2)
  const backend = backendSaying([[...act.tokens.subarray(1)]])
  const sampling = { temperature: 0 }
  const actor = createLocalActor({ backend, tokenizer: marking, sampling, seed: 1, maxTokensPerTurn: 32 })
  const [said] = await actor.act([request], {})
  expect(said).toMatchObject({ text: answer, tokens: act.tokens })
  expect(actor.encode(nodes[1])).toEqual(encodeMessage(marking, { role: 'tool', text: result }).tokens)
})
