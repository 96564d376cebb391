import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { judge } from '../runner/judge.ts'
import type { ArmResult, Paper } from '../runner/paper.ts'
import { designOf, type Plan, planHash } from '../runner/plan.ts'
import { outOfDate, type PaperResult } from '../runner/result.ts'
import { sameOnEveryProcessor } from '../runner/run-paper.ts'
import { afterAll, expect, test, vi } from 'vitest'

// As in the runs of papers. It is read when the runtime is first loaded, and an earlier
// file may have loaded it.
vi.resetModules()
for (const [name, value] of Object.entries(sameOnEveryProcessor)) vi.stubEnv(name, value)
afterAll(() => {
  vi.unstubAllEnvs()
  vi.resetModules()
})

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
  const { id, arms, budget, quick, effect, checks = [], control } = paper
  expect(names).toContain(id)
  expect(Object.keys(quick)).toEqual(Object.keys(budget))
  const named = checks.flatMap(({ arm }) => arm)
  const { positive, same } = control ?? {}
  if (positive !== undefined) named.push(positive.better, positive.than)
  if (same !== undefined) named.push(same)
  for (const arm of [effect.better, ...effect.than, ...named]) expect(Object.keys(arms)).toContain(arm)
  expect(effect.than).not.toContain(effect.better)
  expect(effect.atLeast).toBeGreaterThan(effect.scale === 'ratio' ? 1 : 0)
  for (const check of checks) expect(check.atLeast ?? check.atMost).toBeDefined()
  const own = readFileSync(`${folder}${id}.ts`, 'utf8')
    .split('export default definePaper(')[0]
    .split('\n').length
  // More belongs into a testbed or the library.
  expect(own).toBeLessThanOrEqual(125)
})

const asResult = (returned: number | ArmResult): ArmResult =>
  typeof returned === 'number' ? { score: returned } : returned

test.each(papers.flatMap((paper) => Object.keys(paper.arms).map((arm) => ({ paper, arm, id: paper.id }))))(
  '$id runs: $arm',
  async ({ paper, arm }) => {
    const {
      score,
      measures = {},
      start,
    } = asResult(await paper.arms[arm]({ seed: 101, budget: paper.quick }))
    for (const value of [score, start ?? 0, ...Object.values(measures)]) expect(value).toBeTypeOf('number')
    for (const value of [score, start ?? 0, ...Object.values(measures)])
      expect(Number.isFinite(value)).toBe(true)
    for (const check of paper.checks ?? [])
      if ([check.arm].flat().includes(arm))
        expect(['score', 'start', ...Object.keys(measures)]).toContain(check.of)
  },
)

const read = (file: string): unknown =>
  existsSync(`${folder}${file}`)
    ? (JSON.parse(readFileSync(`${folder}${file}`, 'utf8')) as unknown)
    : undefined

test.each(papers)(
  '$id: the stored result is of the plan, and its verdict is that of its stored runs',
  (paper) => {
    const plan = read(`plans/${paper.id}.json`) as Plan | undefined
    const stored = read(`results/${paper.id}.json`) as PaperResult | undefined
    if (plan === undefined) return expect(stored).toBeUndefined()
    expect(plan.design).toEqual(designOf(paper))
    if (stored === undefined || outOfDate(stored, plan) !== null) return
    expect(stored.plan).toEqual({ hash: planHash(plan), date: plan.date })
    for (const { scores } of Object.values(stored.runs.arms))
      expect(scores).toHaveLength(plan.seeds.to - plan.seeds.from + 1)
    const { verdict, comparisons, checks } = judge(paper, stored.runs)
    expect(stored.verdict).toBe(verdict)
    expect(stored.checks).toEqual(checks)
    for (const [at, { effect, p }] of comparisons.entries()) {
      expect(stored.comparisons[at].effect).toBeCloseTo(effect, 9)
      expect(stored.comparisons[at].p).toBeCloseTo(p, 9)
    }
  },
)

const decided = papers.flatMap((paper) => {
  const stored = read(`results/${paper.id}.json`) as PaperResult | undefined
  return stored?.schema === 2 ? [{ paper, stored, id: paper.id }] : []
})

/** Dearer arms are left out, but never all of a paper. */
const mostSeconds = 1

// So a change of a testbed or of the library that would change a result is noticed.
test.each(decided)('$id: the present code gives the stored scores', async ({ paper, stored }) => {
  const seconds = (arm: string): number => stored.runs.arms[arm].seconds / stored.runs.arms[arm].scores.length
  const [cheapest, ...more] = Object.keys(paper.arms).sort((a, b) => seconds(a) - seconds(b))
  for (const arm of [cheapest, ...more.filter((arm) => seconds(arm) <= mostSeconds)]) {
    const { score } = asResult(await paper.arms[arm]({ seed: stored.seeds.from, budget: paper.budget }))
    expect.soft({ arm, score }).toEqual({ arm, score: stored.runs.arms[arm].scores[0] })
  }
})
