import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import paper from './fixtures/two-arms.ts'
import { renderGallery } from '../command/papers.ts'
import { paperResult } from './paper.ts'
import { runPaper } from './run-paper.ts'

const options = {
  file: fileURLToPath(new URL('./fixtures/two-arms.ts', import.meta.url)),
  worker: fileURLToPath(new URL('./worker.ts', import.meta.url)),
  execArgv: ['--import', 'tsx'],
  workers: 2,
}
const { failing: _, ...arms } = paper.arms

test('every arm runs with its seeds and budget in a process of its own', async () => {
  const scored: string[] = []
  const scores = await runPaper(
    { ...paper, arms },
    {
      ...options,
      quick: true,
      onScore: ({ arm, seed, score, left }) => scored.push(`${arm} ${seed} ${score} ${left}`),
    },
  )
  expect(scores.scores).toEqual({ more: [11], less: [1] })
  expect(scores.seconds.more).toBeGreaterThanOrEqual(0)
  expect(scored.toSorted()).toHaveLength(2)
  expect(scored.join()).toContain('more 1 11')
})

test('an arm that fails ends the run and is named', async () => {
  await expect(
    runPaper({ ...paper, arms: { failing: paper.arms.failing, more: paper.arms.more } }, options),
  ).rejects.toMatchObject({
    code: 'arm-failed',
    message: expect.stringMatching(/arm "failing" with seed [12] .*told to fail/s),
  })
})

test('an aborted run starts nothing', async () => {
  const given = AbortSignal.abort(new Error('given up'))
  await expect(runPaper(paper, { ...options, signal: given })).rejects.toThrow('given up')
})

test('the result contains the verdict, and the gallery shows it without external links', () => {
  const seeds = Array.from({ length: 10 }, (_, i) => i)
  const result = paperResult(
    paper,
    {
      scores: { more: seeds.map((s) => s + 100), less: seeds, failing: seeds.map(() => 0) },
      seconds: { more: 1, less: 1, failing: 1 },
    },
    { command: 'agoge papers run two-arms', date: new Date('2026-01-02T03:04:05Z'), machine: '2 cores' },
  )
  expect(result).toMatchObject({
    schema: 1,
    verdict: 'reproduced',
    date: '2026-01-02',
    higherIsBetter: true,
    simplifications: [],
    comparisons: [{ better: 'more', than: 'less', improvement: { mean: 1 } }],
  })
  expect(JSON.parse(JSON.stringify(result))).toEqual(result)
  const page = renderGallery([result])
  expect(page).toContain('Two arms &lt;and&gt; a third')
  expect(page).toContain('Seeds &amp; budgets arrive.')
  expect(page).toContain('1 reproduced')
  expect(page.match(/<circle/g)).toHaveLength(30)
  expect(page).not.toMatch(/NaN|src=|href=/)
})
