import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import paper from './fixtures/two-arms.ts'
import { runPaper } from './run-paper.ts'

const options = {
  file: fileURLToPath(new URL('./fixtures/two-arms.ts', import.meta.url)),
  worker: fileURLToPath(new URL('./worker.ts', import.meta.url)),
  execArgv: ['--import', 'tsx'],
  workers: 2,
  seeds: { from: 7, to: 8 },
}
const { failing, ...arms } = paper.arms

test('every arm runs with its seeds and budget in a process of its own, and one again with others', async () => {
  const scored: string[] = []
  const runs = await runPaper(
    { ...paper, arms },
    {
      ...options,
      quick: true,
      again: { arm: 'less', seeds: { from: 9, to: 10 } },
      onScore: ({ arm, seed, score, left }) => scored.push(`${arm} ${seed} ${score} ${left}`),
    },
  )
  expect(runs.arms.more).toMatchObject({
    scores: [17, 18],
    measures: { gained: [10, 10], onWeb: [0, 0] },
    starts: [7, 8],
    unreached: 1,
  })
  expect(runs.arms.less).toMatchObject({ scores: [7, 8], measures: {}, starts: [], unreached: 0 })
  expect(runs.again?.scores).toEqual([9, 10])
  expect(runs.arms.more.seconds).toBeGreaterThanOrEqual(0)
  expect(scored).toHaveLength(6)
  expect(scored.join()).toContain('more 7 17')
})

test('scores that are kept are computed with WebAssembly', async () => {
  const runs = await runPaper({ ...paper, arms }, options)
  expect(runs.arms.more.measures).toEqual({ gained: [100, 100], onWeb: [1, 1] })
})

test('what an earlier call has done is not run again', async () => {
  const done = [7, 8].flatMap((seed) =>
    ['more', 'less'].map((arm) => ({ arm, seed, score: seed, seconds: 1 })),
  )
  const runs = await runPaper({ ...paper, arms }, { ...options, worker: 'none', done })
  expect(runs.arms.more).toMatchObject({ scores: [7, 8], seconds: 2 })
})

test('an arm that fails, or whose score is no number, ends the run and is named', async () => {
  const other = { ...paper, arms: { failing, more: paper.arms.more } }
  await expect(runPaper(other, options)).rejects.toMatchObject({
    code: 'arm-failed',
    message: expect.stringMatching(/arm "failing" with seed [78] .*told to fail/s),
  })
  await expect(runPaper(other, { ...options, quick: true })).rejects.toThrow('the score is NaN')
})

test('a measure that only some runs return is refused', async () => {
  const done = [7, 8].map((seed) => ({
    arm: 'more',
    seed,
    score: 1,
    seconds: 1,
    ...(seed === 7 ? { measures: { gained: 1 } } : {}),
  }))
  await expect(runPaper({ ...paper, arms: { more: arms.more } }, { ...options, done })).rejects.toThrow(
    'only some runs of arm "more" return "gained"',
  )
})

test('an aborted run starts nothing', async () => {
  const given = AbortSignal.abort(new Error('given up'))
  await expect(runPaper(paper, { ...options, signal: given })).rejects.toThrow('given up')
})
