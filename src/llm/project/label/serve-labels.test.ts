import { mkdtempSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateText, stepCountIs, tool } from 'ai'
import { afterAll, expect, test } from 'vitest'
import { z } from 'zod'
import { evaluate } from '../evaluate.ts'
import { episodesFile, readTrials } from '../judging/stored-trials.ts'
import { readLabels } from '../judging/labels.ts'
import { scripted } from '../testing/scripted-model.ts'
import type { RatingState } from './rating.ts'
import { serveLabels } from './serve-labels.ts'

const out = mkdtempSync(join(tmpdir(), 'agoge-label-'))
const attack = '<script>alert(1)</script><img src=x onerror=alert(2)>'
const price = tool({ inputSchema: z.object({ of: z.string() }), execute: ({ of }) => `${of} costs 3` })
const shopper = (modelId: string) =>
  scripted(
    ({ prompt }) =>
      prompt.some(({ role }) => role === 'tool')
        ? `It costs 3. ${attack}`
        : { tool: 'price', input: { of: attack } },
    { modelId },
  )
await evaluate(
  {
    agent: async (task, { model, tools }) =>
      (await generateText({ model, tools, prompt: task.prompt, stopWhen: stepCountIs(3) })).text,
    tasks: ['a', 'b', 'c', 'd'].map((id) => ({
      id,
      prompt: `What does tea cost, ${id}?`,
      expected: { answer: 3 },
    })),
    tools: { price: { tool: price, mode: 'run' } },
    score: {
      hidden: ({ model }) =>
        model === 'test/secret-one' ? { value: 0.25, parts: {}, reason: 'a hidden reason' } : null,
    },
    models: [shopper('secret-one'), shopper('secret-two')],
  },
  { out },
).result
const trials = readTrials(join(out, episodesFile))
let files = 0
const closing: (() => Promise<void>)[] = []
async function serve(more: { file?: string; rater?: string; seed?: number } = {}) {
  const file = more.file ?? join(out, `labels-${files++}.jsonl`)
  const served = await serveLabels({ trials, rater: 'anna', ...more, file })
  closing.push(served.close)
  const post = async (path: string, body: object = {}, headers: Record<string, string> = {}) =>
    fetch(`${served.url}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const state = async (response?: Response): Promise<RatingState> =>
    (await (response ?? (await fetch(`${served.url}/state`))).json()) as RatingState
  return { ...served, file, post, state }
}
afterAll(async () => Promise.all(closing.map((close) => close())))

test('a rater sees task, conversation and answer, and neither model nor score nor order', async () => {
  expect(trials).toHaveLength(8)
  const { url, post, state } = await serve()
  const page = await fetch(url)
  const texts = [await page.text()]
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  const asked: string[] = []
  for (let at = 0; at < 8; at += 1) {
    const response = await fetch(`${url}/state`)
    const text = await response.text()
    texts.push(text)
    const { item, done, total } = JSON.parse(text) as RatingState
    expect([done, total, item?.key]).toEqual([at, 8, at])
    expect(item?.task).toMatch(/^What does tea cost, [a-d]\?$/)
    expect(item?.conversation.map(({ role, text: said, calls }) => [role, said, calls])).toEqual([
      ['user', item?.task, []],
      ['assistant', '', [{ name: 'price', arguments: { of: attack } }]],
      ['tool', `${attack} costs 3`, []],
      ['assistant', `It costs 3. ${attack}`, []],
    ])
    expect(item?.answer).toBe(`It costs 3. ${attack}`)
    asked.push(item!.task)
    await post('label', { key: item!.key, success: true })
  }
  for (const text of texts) expect(text).not.toMatch(/secret-(?:one|two)|hidden|0\.25|masked/)
  expect(new Set(asked).size).toBe(4)
  expect(asked).not.toEqual([...asked].sort())
  expect((await state()).item).toBeNull()
})

test('the page shows texts as texts, and loads nothing from elsewhere', async () => {
  const { url } = await serve()
  const page = await (await fetch(url)).text()
  expect(page).not.toContain(attack)
  expect(page).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|https?:\/\//)
  expect(page).toContain('textContent')
})

test('labels are kept at once, with rater and time; the work continues later, and can be taken back', async () => {
  const { file, post, state, close } = await serve()
  const first = (await state()).item!
  await post('label', { key: first.key, success: true })
  const second = (await state()).item!
  const skipped = await state(await post('skip', { key: second.key }))
  expect([skipped.done, skipped.item!.key === second.key]).toEqual([1, false])
  const third = await state(await post('label', { key: skipped.item!.key, success: false }))
  const back = await state(await post('undo'))
  expect([third.done, back.done, back.item]).toEqual([2, 1, skipped.item])
  await post('label', { key: skipped.item!.key, success: true })
  const lines = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(lines.map(({ success }) => success)).toEqual([true, false, null, true])
  expect(lines[0]).toMatchObject({
    rater: 'anna',
    trial: expect.stringMatching(/^test\/secret-/),
    seconds: expect.any(Number),
  })
  expect(Math.abs(Date.parse(lines[0]['at'] as string) - Date.now())).toBeLessThan(600_000)
  expect(readLabels(file).map(({ success }) => success)).toEqual([true, true])
  await close()
  // The same order, without what is labelled. The skipped trial is still there.
  const again = await serve({ file })
  expect(await again.state()).toMatchObject({
    done: 2,
    total: 8,
    canTakeBack: false,
    item: { key: second.key },
  })
  const other = await serve({ file, rater: 'ben' })
  expect(await other.state()).toMatchObject({ done: 0, item: { key: 0 } })
  await other.post('label', { key: 0, success: false })
  expect(readLabels(file)).toHaveLength(3)
  const orders = await Promise.all(
    [1, 2, 3].map(async (seed) => (await (await serve({ seed })).state()).item!.task),
  )
  expect(new Set(orders).size).toBeGreaterThan(1)
})

test('what is not of the page is refused', async () => {
  const { url, post, file } = await serve()
  const refused = [
    await post('label', { key: 5, success: true }),
    await post('label', { key: 0, success: 'yes' }),
    await post('label', { key: 0, success: true }, { 'content-type': 'text/plain' }),
    await post('label', { key: 0, success: true }, { origin: 'https://evil.example.com' }),
    await post('label', { key: 0, success: true, more: 'x'.repeat(5000) }),
    await fetch(`${url}/label`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '[',
    }),
  ]
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 400))
  // A website whose name leads to this machine.
  const { port } = new URL(url)
  const status = await new Promise((resolve, reject) => {
    request(
      { port, host: '127.0.0.1', path: '/state', headers: { host: `evil.example.com:${port}` } },
      (response) => resolve(response.resume().statusCode),
    )
      .on('error', reject)
      .end()
  })
  expect(status).toBe(400)
  expect(readLabels(file)).toEqual([])
})
