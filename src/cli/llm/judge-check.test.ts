import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import type { EvaluationResult } from '../../llm/project/evaluation.ts'
import type { RatingState } from '../../llm/project/label/rating.ts'
import { runCli } from '../run-cli.ts'
import { agoge } from '../testing/agoge.ts'

const from = (name: string): string => JSON.stringify(resolve('dist/llm/project', name))
const folder = mkdtempSync(join(tmpdir(), 'agoge-judge-check-'))
const at = (name: string): string => join(folder, name)
/** A judge that finds even answers good. It is a script, and notes each question. */
const config = (rubric: string): string => `import { appendFileSync } from 'node:fs'
import { defineConfig } from ${from('config.js')}
import { answerMatches } from ${from('scorers.js')}
import { rubric } from ${from('judging/judge-scorers.js')}
const usage = { inputTokens: { total: 10 }, outputTokens: { total: 3 } }
const model = (modelId, say) => ({
  specificationVersion: 'v3', provider: 'test', modelId, supportedUrls: {},
  async doGenerate({ prompt }) {
    return { content: [{ type: 'text', text: say(JSON.stringify(prompt)) }], finishReason: { unified: 'stop' }, usage, warnings: [] }
  },
})
const judge = model('judge', (asked) => {
  appendFileSync(new URL('asked.txt', import.meta.url), 'x')
  return 'score: ' + Number(Number(/final answer: (\\d+)|assistant: (\\d+)/.exec(asked)[2]) % 2 === 0)
})
export default defineConfig({
  agent: async (task, { model }) =>
    (await model.doGenerate({ prompt: [{ role: 'user', content: [{ type: 'text', text: task.prompt }] }] })).content[0].text,
  tasks: Array.from({ length: 30 }, (_, n) => ({ id: String(n), prompt: 'task ' + n, expected: { answer: n } })),
  score: { exact: answerMatches(), even: rubric(${JSON.stringify(rubric)}, { judge }) },
  models: [model('echo', (asked) => /task (\\d+)/.exec(asked)[1])],
})
`
writeFileSync(at('agoge.config.mjs'), config('It is even.'))
const asked = (): number => readFileSync(at('asked.txt'), 'utf8').length
const evaluated = (out: string, file = 'agoge.config.mjs') =>
  agoge('eval', '-c', at(file), '--out', at(out), '--json', at(`${out}.json`))
const warnings = (name: string): string[] =>
  (JSON.parse(readFileSync(at(`${name}.json`), 'utf8')) as EvaluationResult).warnings

test('trials are labelled on a page, judges are compared with the labels, and evaluations show the result', async () => {
  const { out } = await evaluated('.agoge/evaluations/first')
  expect(out).toContain('judge even (test/judge): 30 calls, 390 tokens')
  expect(out).toContain('warning: the judge even was not compared with labels: agoge judge check')
  const evaluation = at('.agoge/evaluations/first')
  expect((await agoge('judge', 'check', evaluation)).err).toContain('there are no labels')

  const stop = new AbortController()
  let served: (url: string) => void
  const url = new Promise<string>((ready) => (served = ready))
  const serving = runCli(['label', evaluation, '--rater', 'anna'], {
    out: (text) => served(text),
    err: () => {},
    progress: { write: () => {} },
    signal: stop.signal,
    debug: false,
  })
  const base = await url
  for (;;) {
    const { item } = (await (await fetch(`${base}/state`)).json()) as RatingState
    if (item === null) break
    // One mistake of the rater, or of the judge.
    const success = Number(item.answer) % 2 === 0 || item.answer === '3'
    await fetch(`${base}/label`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ key: item.key, success }),
    })
  }
  stop.abort()
  expect(await serving).toBe(0)

  const checked = await agoge('judge', 'check', evaluation, '--json', at('check.json'))
  expect([checked.code, checked.out]).toEqual([
    0,
    expect.stringMatching(/even \(test\/judge\) +0\.93 \(0\.\d+–1\.00\) +97%/),
  ])
  expect(checked.out).toContain('even: kappa of at least 0.6: shown')
  expect(JSON.parse(readFileSync(at('check.json'), 'utf8'))).toMatchObject({ labelled: 30 })
  const strict = await agoge('judge', 'check', evaluation, '--threshold', '0.9')
  expect([strict.code, strict.out]).toEqual([
    2,
    expect.stringMatching(/not shown; about \d+ more labels would settle it/),
  ])
  const other = await agoge('judge', 'check', evaluation, '--scorer', 'exact')
  expect([other.code, other.out]).toEqual([
    2,
    expect.stringContaining('exact: kappa of at least 0.6: shown to be less'),
  ])
  expect((await agoge('judge', 'check', evaluation, '--scorer', 'none')).err).toContain(
    'has no scorer "none"',
  )

  // The judgements are known, and so is what the judge is worth.
  const again = await evaluated('second')
  expect(again.out).toMatch(
    /judge even \(test\/judge\): 0 calls, 0 tokens; kappa with labels 0\.93 \(0\.\d+–1\.00\) of 30 trials/,
  )
  expect(again.out).toMatch(/score even \(kappa 0\.93\) +0\.50/)
  expect([warnings('second'), asked()]).toEqual([[], 30])

  // Another rubric is another judge, which the same labels can check.
  writeFileSync(at('other.config.mjs'), config('It is divisible by two.'))
  const changed = await agoge('judge', 'check', evaluation, '-c', at('other.config.mjs'))
  expect([changed.code, changed.err, asked()]).toEqual([
    0,
    expect.stringContaining('the judges were asked again: 390 tokens'),
    60,
  ])
  await evaluated('third', 'other.config.mjs')
  expect([warnings('third'), asked()]).toEqual([[], 60])
})
