import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request as ask } from 'node:http'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTinkerServer } from './server.ts'
import type { TinkerServer } from './server.ts'
import { openTinyHouse } from './testing/serve-tiny.ts'
import type { TinyHouse } from './testing/serve-tiny.ts'

type Json = Record<string, unknown>

let house: TinyHouse
let server: TinkerServer
let session: string
let model: string

async function call(path: string, body?: unknown, headers: Record<string, string> = {}, url = server.url) {
  const response = await fetch(`${url}/api/v1/${path}`, {
    ...(body === undefined
      ? {}
      : { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) }),
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: (text === '' ? {} : JSON.parse(text)) as Json,
  }
}

async function result(taken: { status: number; body: Json }): Promise<Json> {
  expect(taken.status, JSON.stringify(taken.body)).toBe(200)
  return (await call('retrieve_future', { request_id: taken.body['request_id'] })).body
}

const datum = (tokens: number[], inputs: Json = {}) => ({
  model_input: { chunks: [{ type: 'encoded_text', tokens: tokens.slice(0, -1) }] },
  loss_fn_inputs: { target_tokens: { data: tokens.slice(1), dtype: 'int64' }, ...inputs },
})
const imitation = (data: unknown, more: Json = {}) => ({
  model_id: model,
  forward_backward_input: { data, loss_fn: 'cross_entropy', ...more },
})

beforeAll(async () => {
  house = await openTinyHouse()
  server = await house.serve()
  session = String(
    (await call('create_session', { tags: [], user_metadata: null, sdk_version: 'test' })).body['session_id'],
  )
  const made = await call('create_model', { session_id: session, model_seq_id: 0, base_model: 'tiny' })
  model = String((await result(made))['model_id'])
})

afterAll(() => house.close())

test('a request that comes again under its number is carried out once; another one under the same number is refused', async () => {
  const body = { ...imitation([datum([1, 2, 3])]), seq_id: 1 }
  const [one, again] = [await call('forward_backward', body), await call('forward_backward', body)]
  expect(again.body['request_id']).toBe(one.body['request_id'])
  const other = await call('forward_backward', { ...imitation([datum([1, 2, 4])]), seq_id: 1 })
  expect(other.status).toBe(409)
  const first = await call('create_model', { session_id: session, model_seq_id: 0, base_model: 'tiny' })
  expect(first.body['model_id']).toBe(model)
})

test('invalid requests are refused with the name of the field', async () => {
  const cases: [string, unknown, number, string][] = [
    ['create_model', { session_id: 'none', base_model: 'tiny' }, 404, 'no such session'],
    ['create_model', { session_id: session, base_model: 'huge' }, 404, 'expected: tiny'],
    ['create_model', { session_id: session, base_model: 'tiny', lora_config: { rank: 1.5 } }, 400, 'rank'],
    [
      'create_model',
      { session_id: session, base_model: 'tiny', lora_config: { rank: 1e6 } },
      400,
      'at most 24, the width of the model',
    ],
    [
      'create_model',
      { session_id: session, base_model: 'tiny', lora_config: { rank: 1, train_mlp: 'no' } },
      400,
      'train_mlp',
    ],
    ['forward_backward', { model_id: 'none' }, 404, 'no such model'],
    ['forward_backward', imitation('x'), 400, 'data'],
    ['forward_backward', imitation([]), 400, 'no data'],
    ['forward_backward', imitation([datum([1, 2, 3], { weights: { data: [1] } })]), 400, 'Datum 0: weights'],
    ['forward_backward', imitation([datum([1, 2, 3], { mask: { data: [1, 1] } })]), 400, 'mask'],
    ['forward_backward', imitation([datum([1, 2.5, 3])]), 400, 'token id'],
    [
      'forward_backward',
      imitation([datum([1, 2, 3], { weights: { data: [1, 1], shape: [3] } })]),
      400,
      'The shape of weights',
    ],
    ['forward_backward', imitation([datum([1, 2])], { loss_fn_config: { toString: 1 } }), 400, 'no setting'],
    [
      'forward_backward',
      imitation([datum([1, 2, 3], { target_tokens: { data: [7, 3] } })]),
      400,
      'target_tokens[0]',
    ],
    [
      'forward_backward',
      imitation([{ model_input: { chunks: [{ type: 'image' }] }, loss_fn_inputs: {} }]),
      400,
      'nothing but text',
    ],
    [
      'forward_backward',
      imitation([datum([1, 2])], { loss_fn: 'secret' }),
      400,
      'cross_entropy, importance_sampling',
    ],
    ['forward_backward', imitation([datum([1, 2])], { loss_fn: 'toString' }), 400, 'no loss'],
    ['forward_backward', imitation([datum([1, 2])], { loss_fn: 'ppo' }), 400, 'logprobs'],
    ['forward_backward', imitation([datum([1, 2])], { loss_fn_config: { beta: 1 } }), 400, 'no setting beta'],
    ['optim_step', { model_id: model, adam_params: { learning_rate: -1 } }, 400, 'learning_rate'],
    ['optim_step', { model_id: model, adam_params: { beta1: 1 } }, 400, 'beta1'],
    ['save_weights', { model_id: model, path: '../outside' }, 400, 'path'],
    ['load_weights', { model_id: model, path: 'tinker://a/weights/../b' }, 400, 'path of a checkpoint'],
    ['load_weights', { model_id: model, path: 'tinker://a/weights/b' }, 404, 'no such checkpoint'],
    ['asample', { base_model: 'tiny', prompt: { chunks: [] }, sampling_params: {} }, 400, 'no tokens'],
    ['asample', { prompt: { chunks: [{ tokens: [1] }] } }, 400, 'model_path or base_model'],
    [
      'asample',
      { base_model: 'tiny', prompt: { chunks: [{ tokens: [1] }] }, sampling_params: { stop: [1, 'a'] } },
      400,
      'stop',
    ],
    [
      'asample',
      { base_model: 'tiny', prompt: { chunks: [{ tokens: [1] }] }, topk_prompt_logprobs: 3 },
      400,
      'topk',
    ],
    [
      'asample',
      { base_model: 'tiny', prompt: { chunks: [{ tokens: [1] }] }, num_samples: 1e9 },
      400,
      'at most 1024',
    ],
    [
      'asample',
      { base_model: 'tiny', prompt: { chunks: [{ tokens: [1] }] }, sampling_params: { stop: [-1.5] } },
      400,
      'stop',
    ],
    ['retrieve_future', { request_id: 'another-7' }, 404, 'no request'],
    ['nothing', {}, 404, 'no such call'],
    ['optim_step', '{"half', 400, 'not JSON'],
    ['optim_step', '[]', 400, 'an object'],
  ]
  for (const [path, body, status, said] of cases) {
    const answer = await call(path, body)
    expect(answer.status, `${path} ${JSON.stringify(body)}: ${JSON.stringify(answer.body)}`).toBe(status)
    expect(String(answer.body['detail'])).toContain(said)
  }
})

test('bounds of lists are whole numbers', async () => {
  for (const query of ['limit=-1', 'limit=abc', 'limit=', 'offset=1.5'])
    expect(await call(`training_runs?${query}`)).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining(query.split('=')[0]) as unknown },
    })
  expect((await call('training_runs?limit=1&offset=0')).status).toBe(200)
})

test('a failure during execution becomes the result of the request, with its category', async () => {
  const failed = await result(await call('forward_backward', imitation([datum([1, 99, 3])])))
  expect(failed).toMatchObject({
    category: 'user',
    error: expect.stringContaining('ids from 0 to 63') as unknown,
  })
  const long = Array.from({ length: 100 }, (_, i) => i % 60)
  expect(await result(await call('forward_backward', imitation([datum(long)])))).toMatchObject({
    category: 'user',
  })
})

test('log-probabilities of targets and of prompts are those of a forward pass', async () => {
  const tokens = [4, 9, 33, 2, 60]
  const output = await result(
    await call('forward', {
      model_id: model,
      forward_input: { data: [datum(tokens)], loss_fn: 'cross_entropy' },
    }),
  )
  const [{ logprobs }] = output['loss_fn_outputs'] as { logprobs: { data: number[]; shape: number[] } }[]
  expect(logprobs.shape).toEqual([4])
  const total = logprobs.data.reduce((sum, value) => sum + value, 0)
  expect((output['metrics'] as Json)['loss:sum']).toBeCloseTo(-total, 5)
  const sampled = await result(
    await call('asample', {
      base_model: 'tiny',
      prompt: { chunks: [{ tokens: tokens.slice(0, 2) }, { tokens: tokens.slice(2) }] },
      sampling_params: { max_tokens: 2, temperature: 0 },
      prompt_logprobs: true,
    }),
  )
  expect(sampled['prompt_logprobs']).toEqual([null, ...logprobs.data])
  expect(sampled['sequences']).toMatchObject([{ stop_reason: 'length' }])
})

test('protobuf where the client sends and wants it', async () => {
  const golden = JSON.parse(readFileSync(new URL('golden/protobuf.json', import.meta.url), 'utf8')) as Record<
    string,
    string
  >
  const send = (name: string) =>
    fetch(`${server.url}/api/v1/forward_backward`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-protobuf' },
      body: Buffer.from(golden[name], 'base64'),
    })
  expect((await send('request')).status).toBe(404)
  expect((await send('image')).status).toBe(404)
  const taken = await call('asample', {
    base_model: 'tiny',
    prompt: { chunks: [{ tokens: [1, 2] }] },
    sampling_params: { max_tokens: 3, seed: 1 },
  })
  const response = await fetch(`${server.url}/api/v1/retrieve_future`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/x-protobuf' },
    body: JSON.stringify({ request_id: taken.body['request_id'] }),
  })
  expect(response.headers.get('content-type')).toBe('application/x-protobuf')
  expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(20)
  const squeezed = await call('forward_backward', imitation([datum([1, 2])]), { 'content-encoding': 'zstd' })
  expect(squeezed.status).toBe(415)
})

test('requests beyond the limit get status 429, and are accepted when there is space', async () => {
  const small = await house.serve({ maxQueue: 2, maxModels: 1 })
  const post = (path: string, body: unknown) => call(path, body, {}, small.url)
  const own = String((await post('create_session', { tags: [] })).body['session_id'])
  const made = await post('create_model', { session_id: own, base_model: 'tiny' })
  await post('retrieve_future', { request_id: made.body['request_id'] })
  const work = { ...imitation([datum([1, 2, 3])]), model_id: made.body['model_id'] }
  const answers = await Promise.all(Array.from({ length: 12 }, () => post('forward_backward', work)))
  const busy = answers.filter(({ status }) => status === 429)
  expect(busy.length).toBeGreaterThan(0)
  expect(busy[0].headers.get('retry-after')).toBe('1')
  for (const { status, body } of answers)
    if (status === 200) await post('retrieve_future', { request_id: body['request_id'] })
  expect((await post('forward_backward', work)).status).toBe(200)
  // The client of the only model in memory is alive.
  const second = await post('create_model', { session_id: own, model_seq_id: 1, base_model: 'tiny' })
  const { body } = await post('retrieve_future', { request_id: second.body['request_id'] })
  expect(body['error']).toContain('at most 1')
})

test('addresses that cannot be read or that lead out of the store, and bodies nested too deep, are refused', async () => {
  const { hostname, port } = new URL(server.url)
  // Sent unchanged: fetch would correct some of them.
  const get = (path: string) =>
    new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const request = ask({ hostname, port, path }, (answer) => {
        let text = ''
        answer.on('data', (part) => (text += String(part)))
        answer.on('end', () => resolve({ status: answer.statusCode, text }))
      })
      request.on('error', reject).end()
    })
  const outside = join(house.root, '..', `${basename(house.root)}-outside`)
  const folder = join(outside, 'weights', 'secret')
  mkdirSync(folder, { recursive: true })
  try {
    writeFileSync(join(folder, 'tinker-checkpoint.json'), JSON.stringify({ schema: 1, time: 'now' }))
    for (const places of [`models/..%2f..%2f${basename(outside)}`, 'training_runs/..%2f..%2foutside']) {
      const { status, text } = await get(`/api/v1/${places}/checkpoints`)
      expect([status, text]).toEqual([400, expect.not.stringContaining('secret')])
    }
  } finally {
    rmSync(outside, { recursive: true })
  }
  for (const path of ['//', '/api/v1/samplers/%E0%A4%A', '/api/v1/training_runs/%'])
    expect((await get(path)).status).toBe(400)
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)
  expect((await call('create_session', `{"tags":${deep}}`)).status).toBe(400)
  const far = imitation([datum([1, 4294967301, 3])])
  expect((await call('forward_backward', far)).status).toBe(400)
})

test('limits, keys and strangers', async () => {
  const withFileErrors = await house.serve({ maxBody: 2000, apiKey: 'tml-secret' })
  const key = { 'x-api-key': 'tml-secret' }
  expect((await call('healthz', undefined, {}, withFileErrors.url)).status).toBe(200)
  expect((await call('get_server_capabilities', undefined, {}, withFileErrors.url)).status).toBe(401)
  expect((await call('get_server_capabilities', undefined, key, withFileErrors.url)).body).toEqual({
    supported_models: [{ model_name: 'tiny', max_context_length: 64 }],
  })
  const bearer = { authorization: 'Bearer tml-secret' }
  expect((await call('get_server_capabilities', undefined, bearer, withFileErrors.url)).status).toBe(200)
  const large = imitation([datum(Array.from({ length: 2000 }, () => 1))])
  expect((await call('forward_backward', large, key, withFileErrors.url)).status).toBe(413)
  // A website may send text without a preflight request, and may reach this machine through a name of its own.
  expect((await call('create_session', '{}', { 'content-type': 'text/plain' })).status).toBe(415)
  const { hostname, port } = new URL(server.url)
  const foreign = await new Promise<number>((resolve) => {
    ask({ hostname, port, path: '/api/v1/healthz', headers: { host: 'evil.example' } }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    }).end()
  })
  expect(foreign).toBe(200)
  const reached = await new Promise<number>((resolve) => {
    ask({ hostname, port, path: '/api/v1/training_runs', headers: { host: 'evil.example' } }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    }).end()
  })
  expect(reached).toBe(403)
  const make = (options: Json) =>
    createTinkerServer({ models: { tiny: house.model }, store: house.root, ...options })
  await expect(make({ host: '0.0.0.0' })).rejects.toMatchObject({ code: 'tinker-needs-key' })
  await expect(make({ port: Number(port) })).rejects.toMatchObject({ code: 'tinker-port' })
  await expect(make({ models: { x: house.root } })).rejects.toMatchObject({ code: 'no-model' })
})
