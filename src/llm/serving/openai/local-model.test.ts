import type OpenAI from 'openai'
import { expect, onTestFinished, test } from 'vitest'
import { createLocalBackend } from '../../backend/local-backend.ts'
import { tinyConfig } from '../../testing/tiny-model.ts'
import { hi, patient, servedModel, start, tokenizer } from './testing/serve-model.ts'

test('a real model: seeds repeat, log-probabilities are those of the model, options hold', async () => {
  const config = { ...tinyConfig, vocab_size: tokenizer.vocabularySize, max_position_embeddings: 600 }
  const backend = createLocalBackend({ config, seed: 1, tokenizer, threads: 1 })
  onTestFinished(() => backend.dispose())
  const { client } = await start({ ...servedModel(backend), window: config.max_position_embeddings })
  const ask = async (fields: object) => {
    const { choices, ...rest } = await client.chat.completions.create({
      model: 'tiny',
      messages: hi,
      max_tokens: 12,
      logprobs: true,
      top_logprobs: 3,
      ...({ return_token_ids: true } as object),
      ...fields,
    })
    return { ...rest, choices } as unknown as {
      prompt_token_ids: number[]
      choices: {
        token_ids: number[]
        logprobs: { content: { logprob: number; top_logprobs: { logprob: number }[] }[] }
      }[]
    }
  }
  const drawn = await ask({ seed: 5, n: 2 })
  const again = await ask({ seed: 5, n: 2 })
  expect(again.choices.map((choice) => choice.token_ids)).toEqual(
    drawn.choices.map((choice) => choice.token_ids),
  )
  expect(drawn.choices[0].token_ids).not.toEqual(drawn.choices[1].token_ids)
  expect((await ask({ seed: 6 })).choices[0].token_ids).not.toEqual(drawn.choices[0].token_ids)
  const [{ token_ids: ids, logprobs }] = drawn.choices
  const [scored] = await backend.forward([Int32Array.from([...drawn.prompt_token_ids, ...ids])])
  const expected = scored.subarray(drawn.prompt_token_ids.length)
  logprobs.content.forEach(({ logprob, top_logprobs: top }, i) => {
    expect(Math.abs(logprob - expected[i])).toBeLessThan(1e-4)
    expect(top.length).toBe(3)
    expect(top[0].logprob).toBeGreaterThanOrEqual(top[2].logprob)
  })
  const greedy = await ask({ temperature: 0, top_logprobs: 1 })
  // The most likely token may have no text, such as the start of a call.
  for (const { logprob, top_logprobs: top } of greedy.choices[0].logprobs.content)
    expect(logprob).toBeLessThan(top[0].logprob + 1e-5)
  const completed = await client.completions.create({
    model: 'tiny',
    prompt: 'Hi',
    temperature: 0,
    logprobs: 1,
  })
  const { token_logprobs: likely = [], top_logprobs: tops = [] } = completed.choices[0].logprobs ?? {}
  expect(likely.length).toBeGreaterThan(0)
  likely.forEach((logprob, i) => expect(logprob).toBeCloseTo(Math.max(...Object.values(tops[i])), 5))
  expect((await ask({ seed: 9, top_k: 1, top_logprobs: 0 })).choices[0].token_ids).toEqual(
    greedy.choices[0].token_ids,
  )
  // An untrained model emits only what the grammar allows.
  const parameters = {
    type: 'object',
    properties: { n: { type: 'integer', minimum: 1, maximum: 9 } },
    required: ['n'],
  }
  const two = ['a', 'b'].map((name) => ({ type: 'function' as const, function: { name, parameters } }))
  const create = (fields: object) =>
    client.chat.completions.create({
      model: 'tiny',
      messages: [{ role: 'user', content: '' }],
      seed: 3,
      ...fields,
    })
  const choice = { type: 'function', function: { name: 'b' } }
  const [forced] = ((await create({ tools: two, tool_choice: choice })) as OpenAI.ChatCompletion).choices
  expect(forced.message.tool_calls?.[0]).toMatchObject({ function: { name: 'b' } })
  const response_format = { type: 'json_schema', json_schema: { name: 'x', schema: parameters } }
  const [formed, bad] = await Promise.all([
    create({ response_format }) as Promise<OpenAI.ChatCompletion>,
    create({ response_format: { type: 'json_schema', json_schema: { schema: { not: {} } } } }).catch(
      ({ status }) => status,
    ),
  ])
  expect(JSON.parse(formed.choices[0].message.content ?? '')).toEqual({ n: expect.any(Number) })
  expect(bad).toBe(400)
})

test(
  'tokens without text, which models with more rows than tokens draw, have no bytes, and are read again',
  patient,
  async () => {
    const config = {
      ...tinyConfig,
      vocab_size: tokenizer.vocabularySize + 2000,
      max_position_embeddings: 200,
    }
    const backend = createLocalBackend({ config, seed: 1, tokenizer, threads: 1 })
    onTestFinished(() => backend.dispose())
    const { client } = await start({ ...servedModel(backend), window: 200 })
    const asked = { model: 'tiny', seed: 1, max_tokens: 8, logprobs: 2 }
    const said = await client.completions.create({ ...asked, prompt: 'Hi' })
    const [{ text, logprobs }] = said.choices
    expect(logprobs?.tokens?.join('')).toBe(text)
    expect(logprobs?.tokens?.filter((token) => token === '').length).toBeGreaterThan(0)
    const last = config.vocab_size - 1
    expect((await client.completions.create({ ...asked, prompt: [last, 5] })).choices.length).toBe(1)
    await expect(client.completions.create({ ...asked, prompt: [last + 1] })).rejects.toMatchObject({
      status: 400,
    })
    const chat = await client.chat.completions.create({
      model: 'tiny',
      messages: hi,
      seed: 1,
      max_tokens: 8,
      logprobs: true,
      top_logprobs: 3,
    })
    const entries = chat.choices[0].logprobs?.content ?? []
    // Chats are limited to text, so these tokens are likely but never drawn.
    expect(entries.filter(({ token }) => token === '')).toEqual([])
    const textless = entries.flatMap(({ top_logprobs: likely }) => likely).filter(({ token }) => token === '')
    expect(textless.length).toBeGreaterThan(0)
    for (const { bytes } of textless) expect(bytes).toEqual([])
  },
)
