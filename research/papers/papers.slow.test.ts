import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { judge, type Paper, type PaperResult } from '../runner/paper.ts'
import { expect, test } from 'vitest'

const folder = fileURLToPath(new URL('.//', import.meta.url))
const names = readdirSync(folder)
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  .map((name) => name.slice(0, -3))
const papers = await Promise.all(
  names.map(
    async (name) =>
      ((await import(/* @vite-ignore */ new URL(`./${name}.ts`, import.meta.url).href)) as { default: Paper })
        .default,
  ),
)

test.each(papers)('$id is reported in full, and in short', (paper) => {
  const { id, arms, seeds, budget, quick, expect: claimed } = paper
  expect(names).toContain(id)
  expect(seeds).toBeGreaterThanOrEqual(8)
  expect(Object.keys(quick)).toEqual(Object.keys(budget))
  for (const arm of [claimed.better, ...claimed.than]) expect(Object.keys(arms)).toContain(arm)
  expect(claimed.than).not.toContain(claimed.better)
  expect(readFileSync(`${folder}${id}.ts`, 'utf8').split('\n').length).toBeLessThanOrEqual(125)
})

test.each(papers.flatMap((paper) => Object.keys(paper.arms).map((arm) => ({ paper, arm, id: paper.id }))))(
  '$id runs: $arm',
  async ({ paper, arm }) => {
    const run = { seed: 101, budget: paper.quick }
    const score = await paper.arms[arm](run)
    expect(Number.isFinite(score)).toBe(true)
  },
)

test.each(papers)('$id: the stored verdict is that of its stored scores', (paper) => {
  const file = `${folder}results/${paper.id}.json`
  if (!existsSync(file)) return
  const stored = JSON.parse(readFileSync(file, 'utf8')) as PaperResult
  const { verdict, comparisons } = judge(paper, stored.scores)
  expect(stored.verdict).toBe(verdict)
  for (const [at, { improvement }] of comparisons.entries()) {
    expect(stored.comparisons[at].improvement.low).toBeCloseTo(improvement.low ?? NaN, 9)
    expect(stored.comparisons[at].improvement.high).toBeCloseTo(improvement.high ?? NaN, 9)
  }
})

test('one of them in full', async () => {
  const { default: paper } = (await import('./policy-cliff.ts')) as { default: Paper }
  const scores: Record<string, number[]> = {}
  for (const [name, arm] of Object.entries(paper.arms)) {
    scores[name] = []
    for (let seed = 1; seed <= paper.seeds; seed++)
      scores[name].push(await arm({ seed, budget: paper.budget }))
  }
  expect(judge(paper, scores).verdict).toBe('reproduced')
})
