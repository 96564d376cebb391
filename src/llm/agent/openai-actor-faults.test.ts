import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { AgogeError } from '../../error.ts'
import { createOpenAIActor } from './openai-actor.ts'
import { actWith, completion, endpoint, nodesOf, request } from './testing/endpoint.ts'
import type { Reply } from './testing/endpoint.ts'

test('passing faults are tried again: overload, errors, a lost connection, a hung server', async () => {
  const { act, asked } = await actWith(
    [
      { status: 429, headers: { 'retry-after': '0' } },
      { status: 503 },
      { cut: true },
      { hang: true },
      { text: '<html>busy</html>' },
      { body: { error: { message: 'upstream is busy' } } },
      completion({ content: 'here' }),
    ],
    { timeoutSeconds: 3, retries: 6 },
  )
  expect(act).toMatchObject({ text: 'here' })
  expect(asked).toHaveLength(7)
})

test('after the last attempt the fault stands in the place of the act, without the key', async () => {
  const { act, asked } = await actWith([{ status: 500, body: { error: 'sk-secret broke' } }], { retries: 1 })
  expect(act).toBeInstanceOf(Error)
  expect(AgogeError.isInstance(act)).toBe(false)
  expect((act as Error).message).toMatch(/answered 500: .*\[redacted\] broke/)
  expect(asked).toHaveLength(2)
  const odd = await actWith([{ body: { hello: 'sk-secret' } }], { retries: 2 })
  expect((odd.act as Error).message).toMatch(/answered with no chat completion: .*\[redacted\]/)
  expect(odd.asked).toHaveLength(3)
})

test('an answer that is too long is not asked for again', async () => {
  const { act, asked } = await actWith(
    [{ text: 'x'.repeat(2 ** 26 + 1) }, completion({ content: 'here' })],
    {},
  )
  expect((act as Error).message).toMatch(/^127\.0\.0\.1:\d+: it sent more than 67108864 bytes$/)
  expect(asked).toHaveLength(1)
})

test('a refusal for good is a mistake of the user', async () => {
  const given = { status: 401, body: { error: 'bad key sk-secret' } }
  const error = await actWith([given]).catch((caught: unknown) => caught)
  expect(error).toMatchObject({
    code: 'model-endpoint-refused',
    hint: expect.stringContaining('OPENAI_API_KEY'),
  })
  expect(JSON.stringify(error)).not.toContain('sk-secret')
  expect(() => createOpenAIActor({ baseUrl: 'localhost', model: 'm' })).toThrow(/not the address/)
  const secret = () => createOpenAIActor({ baseUrl: 'https://me:sk-secret@host/v1', model: 'm' })
  expect(secret).toThrow(
    expect.objectContaining({ code: 'bad-model-url', given: expect.not.stringContaining('sk-secret') }),
  )
})

/** Errors of three kinds of server for a forbidden field; undefined if the request is fine. */
const refusals: Record<string, (body: Record<string, unknown>) => Reply | undefined> = {
  reasoning(body) {
    const refuse = (param: string, message: string): Reply => ({
      status: 400,
      body: { error: { message, type: 'invalid_request_error', param, code: 'unsupported_parameter' } },
    })
    if ('max_tokens' in body)
      return refuse(
        'max_tokens',
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      )
    if ('temperature' in body)
      return refuse('temperature', "Unsupported value: 'temperature' does not support 0.2 with this model.")
    return 'top_p' in body ? refuse('top_p', "'top_p' is not supported with this model.") : undefined
  },
  words: (body) =>
    'temperature' in body && 'top_p' in body
      ? {
          status: 400,
          body: { message: '`temperature` and `top_p` cannot both be specified for sk-secret.' },
        }
      : undefined,
  fields(body) {
    const name = ['seed', 'max_completion_tokens', 'max_tokens'].find((field) => field in body)
    const detail = [{ type: 'extra_forbidden', loc: ['body', name], msg: 'Extra inputs', input: body }]
    return name === undefined ? undefined : { status: 422, body: { detail } }
  },
}

test.each<[string, Record<string, number>, number]>([
  ['reasoning', { max_completion_tokens: 99, seed: 1 }, 3],
  ['words', { top_p: 0.9, max_tokens: 99, seed: 1 }, 1],
  ['fields', { temperature: 0.2, top_p: 0.9 }, 3],
])('parameters that a model refuses (%s) are given up once for all requests', async (kind, left, times) => {
  const bodies: Record<string, unknown>[] = []
  const server = createServer((incoming, response) => {
    let text = ''
    incoming.on('data', (chunk) => (text += String(chunk)))
    incoming.on('end', () => {
      const body = JSON.parse(text) as Record<string, unknown>
      bodies.push(body)
      const { status = 200, body: said } = refusals[kind]?.(body) ?? completion({ content: 'ok' })
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const notices: string[] = []
  const actor = createOpenAIActor({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    model: 'm',
    apiKey: 'sk-secret',
    temperature: 0.2,
    topP: 0.9,
    maxTokensPerTurn: 99,
    seed: 1,
    // A refused parameter does not count as a failed attempt.
    retries: 0,
    onNotice: (text) => notices.push(text),
  })
  const acts = await actor.act([request, request, request, request], {})
  expect(acts.map((act) => (act instanceof Error ? act.message : act.text))).toEqual(Array(4).fill('ok'))
  expect(notices).toHaveLength(times)
  for (const text of notices) expect(text).toMatch(/^m: "\w+" is .*since the model refused it: /)
  expect(notices.join()).not.toContain('sk-secret')
  // From here on nothing is refused.
  const before = bodies.length
  await actor.act([request], {})
  expect(bodies).toHaveLength(before + 1)
  const settings = Object.entries(bodies.at(-1) ?? {}).filter(
    ([name]) => !['model', 'messages', 'tools'].includes(name),
  )
  expect(Object.fromEntries(settings)).toEqual(left)
})

const tooLong: unknown[] = [
  { error: { code: 'context_length_exceeded', message: 'too many' } },
  {
    object: 'error',
    message: "This model's maximum context length is 512 tokens. However, you asked for 600.",
    code: 400,
  },
  {
    error: {
      code: 400,
      message: 'the request exceeds the available context size',
      type: 'exceed_context_size_error',
    },
  },
]

test.each(tooLong)(
  'a conversation that outgrows the window ends the episode, not the run: %j',
  async (body) => {
    const { baseUrl, asked } = await endpoint([{ status: 400, body }])
    const actor = createOpenAIActor({ baseUrl, model: 'm' })
    const nodes = nodesOf(
      { text: 'What is in /a?' },
      { role: 'assistant', text: 'Where?' },
      { text: 'There.' },
    )
    expect(await actor.act([{ ...request, nodes }], {})).toMatchObject([
      { text: '', calls: [], finish: 'length' },
    ])
    expect(asked).toHaveLength(1)
    // A first message that does not fit never will.
    await expect(actor.act([request], {})).rejects.toMatchObject({
      code: 'model-endpoint-refused',
      hint: expect.stringContaining('window'),
    })
    const other = await endpoint([{ status: 400, body: { error: { message: 'no such model' } } }])
    const refused = createOpenAIActor({ baseUrl: other.baseUrl, model: 'm' }).act([{ ...request, nodes }], {})
    await expect(refused).rejects.toMatchObject({ code: 'model-endpoint-refused' })
  },
)

test('a request is not sent on to another address, but the address is named', async () => {
  const target = await endpoint([completion({ content: 'ok' })])
  for (const location of [`${target.baseUrl}chat/completions?key=hidden`, '/v2/chat/completions']) {
    const refused: unknown = await actWith([{ status: 301, headers: { location } }]).catch(
      (error: unknown) => error,
    )
    expect(refused).toMatchObject({ code: 'model-endpoint-refused' })
    const { hint } = refused as AgogeError
    expect(hint).toMatch(/http:\/\/127\.0\.0\.1:\d+\/v[12]$/)
  }
  expect(target.asked).toEqual([])
})

test('an abort ends the waiting', async () => {
  const stop = AbortSignal.timeout(50)
  const { act } = await actWith([{ status: 503, headers: { 'retry-after': '60' } }], {}, stop)
  expect(act).toBeInstanceOf(Error)
  const hung = await actWith([{ hang: true }], {}, AbortSignal.timeout(50))
  expect(hung.act).toBeInstanceOf(Error)
  expect(hung.asked).toHaveLength(1)
})
