import OpenAI from 'openai'
import { expect, onTestFinished, test } from 'vitest'
import { encodeEpisode, readEpisodes } from '../episode/codec.ts'
import type { Episode } from '../episode/types.ts'
import { openGateway } from '../gateway/gateway.ts'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AgogeConfig, defineConfig, run } from './config.ts'
import { openGatewayParts } from './gateway-models.ts'
import { answerMatches } from './scorers.ts'
import { httpError, request, scripted } from './testing/scripted-model.ts'

async function open(config: AgogeConfig) {
  const stop = new AbortController()
  const { models, score, dispose } = await openGatewayParts(config, '.', stop.signal)
  const episodes: Episode[] = []
  const { url, close } = await openGateway({
    models,
    score,
    onEpisode: (episode) => void episodes.push(episode),
  })
  onTestFinished(async () => {
    await close(0)
    stop.abort()
    await dispose()
  })
  const ask = async (session: string, model: string, content: string) => {
    const client = new OpenAI({ baseURL: `${url}/s/${session}/v1`, apiKey: 'none', maxRetries: 0 })
    const { choices } = await client.chat.completions.create({ model, messages: [{ role: 'user', content }] })
    return choices[0].message.content
  }
  const end = async (session: string, how: object) => {
    const headers = { 'content-type': 'application/json' }
    const at = `${url}/agoge/sessions/${session}/end`
    const response = await fetch(at, { method: 'POST', headers, body: JSON.stringify(how) })
    return response.json()
  }
  return { ask, end, close, episodes }
}

const config = defineConfig({
  agent: () => '',
  tasks: [{ id: 'sum', prompt: '2 + 2', expected: { answer: 4 } }],
  score: { answer: answerMatches() },
  models: [scripted((options) => `It is ${request(options) === '2 + 2' ? 4 : 5}.`)],
  backoffSeconds: 0.001,
}) as AgogeConfig

test('sessions are scored as trials of the config are', async () => {
  const { ask, end, episodes } = await open(config)
  await ask('a', 'test/scripted', '2 + 2')
  expect(await end('a', { task: 'sum' })).toMatchObject({
    status: 'ok',
    success: true,
    rewards: [{ name: 'answer:score' }, { name: 'answer', value: 1 }].slice(-1),
  })
  await ask('b', 'any', '2 + 3')
  expect(await end('b', { task: 'sum' })).toMatchObject({ status: 'ok', success: false })
  await ask('c', 'any', '2 + 3')
  expect(await end('c', { task: 'sum', output: 'Four: 4' })).toMatchObject({ success: true })
  await ask('d', 'any', '2 + 2')
  expect(await end('d', {})).toMatchObject({
    status: 'masked',
    error: expect.stringContaining('no expected answer'),
  })
  const file = join(mkdtempSync(join(tmpdir(), 'agoge-gateway-')), 'episodes.jsonl')
  writeFileSync(file, episodes.map((episode) => `${encodeEpisode(episode)}\n`).join(''))
  expect([...readEpisodes(file)]).toMatchObject([{ id: 'a/0' }, { id: 'b/1' }, { id: 'c/2' }, { id: 'd/3' }])
})

test('calls are tried again, the budget holds, and the status of a service is passed on', async () => {
  const passing = scripted(() => 'yes', { fail: (call) => (call === 1 ? httpError(503) : undefined) })
  const retried = await open({ ...config, models: [passing], retries: 1 })
  expect(await retried.ask('a', 'm', 'x')).toBe('yes')
  expect(await retried.end('a', { task: 'sum', output: '4' })).toMatchObject({ status: 'ok' })
  const large = scripted(() => 'yes', { usage: { input: 500, output: 50 } })
  const limited = await open({ ...config, models: [large], budget: { tokens: 1500 }, maxOutputTokens: 100 })
  expect(await limited.ask('a', 'm', 'x')).toBe('yes')
  await expect(limited.ask('b', 'm', 'x')).rejects.toMatchObject({ status: 402, code: 'budget_reached' })
  expect(await limited.end('b', {})).toMatchObject({ status: 'masked', error: 'the budget was reached' })
  expect([passing.calls.length, large.calls.length]).toEqual([2, 1])
  const failing = await open({ ...config, models: [scripted(() => '', { fail: () => httpError(418) })] })
  await expect(failing.ask('c', 'm', 'x')).rejects.toMatchObject({ status: 418 })
})

test('a model of this machine has its exact tokens', async () => {
  const { ask, close, episodes } = await open({ ...config, models: [run('models/base')] })
  await ask('a', 'base', 'Hi')
  await close()
  const [{ samples, nodes }] = episodes
  expect(samples[0].trainable && samples[0].mask.includes(1) && nodes[1].tokens.length > 5).toBe(true)
})
