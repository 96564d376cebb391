import { expect, onTestFinished, test } from 'vitest'
import { saying } from '../../agent/testing/saying.ts'
import { createLocalBackend } from '../../backend/local-backend.ts'
import { tinyConfig } from '../../testing/tiny-model.ts'
import { serveOpenAI } from './serve.ts'
import { hi, patient, post, servedModel, start, tokenizer } from './testing/serve-model.ts'

test('requests that come while the model is busy make one batch; too many are sent away', async () => {
  let open = (): void => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const backend = saying(
    tokenizer,
    () => 'x<|im_end|>',
    () => gate,
  )
  const { client } = await start(servedModel(backend), { mostRows: 6 })
  const ask = () => client.chat.completions.create({ model: 'tiny', messages: hi })
  const first = ask()
  await expect.poll(() => backend.batches.length, patient).toBe(1)
  // It is random which of them is refused.
  const refused: number[] = []
  const others = Array.from({ length: 6 }, () =>
    ask().catch(({ status }: { status: number }) => refused.push(status)),
  )
  await expect.poll(() => refused, patient).toEqual([429])
  open()
  await Promise.all([first, ...others])
  expect(backend.batches).toEqual([1, 5])
})

test('sampling stops when a client disconnects, and closing aborts unfinished requests', async () => {
  let open = (): void => {}
  const gate = () =>
    new Promise<void>((resolve) => {
      open = resolve
    })
  const backend = saying(tokenizer, () => 'x<|im_end|>', gate)
  let answered = 0
  const { url, close } = await serveOpenAI({ model: servedModel(backend), onRequest: () => answered++ })
  const controller = new AbortController()
  const asked = fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: hi }),
    signal: controller.signal,
  }).catch(() => 'gone')
  await expect.poll(() => backend.batches.length, patient).toBe(1)
  controller.abort()
  expect(await asked).toBe('gone')
  await expect.poll(() => answered, patient).toBe(1)
  open()
  await expect.poll(() => backend.aborted, patient).toBe(1)
  const waiting = post(url, { messages: hi }).then(({ status }) => status)
  await expect.poll(() => backend.batches.length, patient).toBe(2)
  const closed = close(0.05)
  await new Promise((resolve) => setTimeout(resolve, 100))
  open()
  expect(await waiting).toBe(503)
  await closed
  await expect(post(url, { messages: hi })).rejects.toThrow()
})

test('while a grammar that explodes is compiled others are answered; it ends with the limit that it exceeded', async () => {
  const config = { ...tinyConfig, vocab_size: tokenizer.vocabularySize, max_position_embeddings: 300 }
  const backend = createLocalBackend({ config, seed: 1, tokenizer, threads: 1 })
  onTestFinished(() => backend.dispose())
  const { client, url } = await start({ ...servedModel(backend), window: 300 })
  const formatOf = (schema: Record<string, unknown>) => ({
    type: 'json_schema' as const,
    json_schema: { name: 'x', schema },
  })
  const allOf = Array.from({ length: 12 }, (_, i) => ({
    type: 'string',
    pattern: `^(a|b)*a(a|b){${i + 4}}$`,
  }))
  const ask = (schema: Record<string, unknown>, stream = false) =>
    post(url, { messages: hi, max_tokens: 40, stream, response_format: formatOf(schema) })
  // Grammars are compiled in turn: the second of these waits for the first.
  const done: string[] = []
  const bombs = Array.from({ length: 2 }, (_, i) =>
    ask({ allOf, title: String(i) }).finally(() => done.push('bomb')),
  )
  await client.chat.completions.create({ model: 'tiny', messages: hi, max_tokens: 1 })
  done.push('answer')
  const exploding = bombs[0]
  await Promise.all(bombs)
  expect(done.indexOf('answer')).toBeLessThan(2)
  const message = expect.stringMatching(/too large: expected at most \d+ steps to compile it/)
  expect([(await exploding).status, await (await exploding).json()]).toMatchObject([
    400,
    { error: { code: 'invalid_value', message } },
  ])
  // Patterns that grow only after a row has started.
  const later = allOf.map(({ pattern }) => ({
    type: 'string',
    pattern: pattern.replace('^', '^(c|b').replace('$', ')$'),
  }))
  for (const stream of [false, true]) {
    const response = await ask({ allOf: later }, stream)
    expect(await response.text()).toContain('to find the next token')
    // A started stream ends with the error.
    if (!stream) expect(response.status).toBe(400)
  }
  const listed = await client.chat.completions.create({
    model: 'tiny',
    messages: hi,
    response_format: formatOf({ enum: Array.from({ length: 20_000 }, (_, i) => `item ${i}`) }),
  })
  expect(listed.choices[0].message.content).toMatch(/^"item \d+"$/)
})
