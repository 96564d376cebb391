import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkJudges, keepChecks, readChecks, type ScoredTrial } from './check-judges.ts'
import type { Judge } from './judges.ts'
import { appendLabel, type Label, labelsFile, majority, readLabels } from './labels.ts'

const folder = (): string => mkdtempSync(join(tmpdir(), 'agoge-check-'))
const judge: Judge = { scorer: 'polite', model: 'test/judge', id: 'abc', passAt: 0.5 }
/** Trials of 40 tasks; `polite` is right but for each tenth, which it passes wrongly, and cannot judge the last two. */
const isGood = (n: number): boolean => n % 2 === 0
const trials: ScoredTrial[] = Array.from({ length: 40 }, (_, n) => ({
  id: `m/t${n}/0`,
  task: `t${n}`,
  scores: { polite: n >= 38 ? null : isGood(n) || n % 10 === 5 ? 0.6 : 0.4, exact: Number(isGood(n)) },
}))
const labelsOf = (rater: string, says: (n: number) => boolean, count = 40): Label[] =>
  Array.from({ length: count }, (_, n) => ({ trial: `m/t${n}/0`, rater, success: says(n) }))
const settings = { judges: [judge], threshold: 0.6 }

test('scorers are compared with labels: kappa, counts, and rates of both kinds of mistakes', () => {
  const { labelled, scorers, raters } = checkJudges(trials, labelsOf('anna', isGood), settings)
  const [polite, exact] = scorers
  expect([labelled, raters]).toEqual([40, []])
  expect(polite).toMatchObject({
    scorer: 'polite',
    judge,
    unjudged: 2,
    falsePass: { n: 19 },
    falseFail: { mean: 0, n: 19 },
  })
  expect(polite.agreement).toMatchObject({
    pairs: 38,
    counts: { yy: 19, yn: 0, ny: 4, nn: 15 },
    raw: 34 / 38,
  })
  expect(polite.falsePass.mean).toBeCloseTo(4 / 19, 12)
  // (34 / 38 - 1 / 2) / (1 - 1 / 2): half of the labels are successes.
  expect(polite.agreement.kappa.mean).toBeCloseTo(2 * (34 / 38 - 0.5), 12)
  expect(polite.labelsNeeded).toBeGreaterThan(0)
  expect(exact).toMatchObject({ unjudged: 0, labelsNeeded: 0, agreement: { raw: 1 } })
  expect(exact.judge).toBeUndefined()
})

test('several raters: the majority counts, even splits are left out, and raters are compared with each other', () => {
  const labels = [
    ...labelsOf('anna', isGood),
    ...labelsOf('ben', (n) => isGood(n) !== (n === 3), 20),
    ...labelsOf('cleo', (n) => isGood(n) !== (n === 3 || n === 4), 10),
  ]
  const { labelled, split, raters, scorers } = checkJudges(trials, labels, settings)
  // Three say of task 3, and two of them wrongly; of task 4 one.
  expect([labelled, split]).toEqual([40, 0])
  expect(scorers[1].agreement.counts).toEqual({ yy: 20, yn: 1, ny: 0, nn: 19 })
  expect(raters.map(({ a, b, agreement }) => [a, b, agreement.pairs])).toEqual([
    ['anna', 'ben', 20],
    ['anna', 'cleo', 10],
    ['ben', 'cleo', 10],
  ])
  expect(raters[0].agreement.raw).toBe(19 / 20)
  const two = majority([...labelsOf('anna', isGood, 2), ...labelsOf('ben', () => true, 2)])
  expect([[...two.labels], two.split]).toEqual([[['m/t0/0', true]], 1])
})

test('of a rater and trial the last label counts; a line that is none is named', () => {
  const file = join(folder(), labelsFile)
  expect(readLabels(file)).toEqual([])
  for (const success of [true, false, null]) appendLabel(file, { trial: 'a', rater: 'anna', success })
  appendLabel(file, { trial: 'a', rater: 'ben', success: true })
  appendLabel(file, { trial: 'b', rater: 'anna', success: true })
  appendLabel(file, { trial: 'b', rater: 'anna', success: false })
  expect(readLabels(file)).toEqual([
    { trial: 'a', rater: 'ben', success: true },
    { trial: 'b', rater: 'anna', success: false },
  ])
  writeFileSync(file, `${readFileSync(file, 'utf8')}{"trial": 3}\n`)
  expect(() => readLabels(file)).toThrow(`${file}:7 is no label`)
})

test('what a check found is kept by the judge, the last check of it', () => {
  const shared = join(folder(), '.agoge')
  expect(readChecks(shared).size).toBe(0)
  expect(readChecks(undefined).size).toBe(0)
  keepChecks(shared, checkJudges(trials, labelsOf('anna', isGood, 20), settings).scorers)
  keepChecks(shared, checkJudges(trials, labelsOf('anna', isGood), settings).scorers)
  // `exact` asks no model.
  expect([...readChecks(shared)]).toEqual([['abc', expect.objectContaining({ id: 'abc', labels: 38 })]])
  const file = join(shared, 'judge-checks.jsonl')
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('"mean":0.', '"mean":0.9'))
  expect(readChecks(shared).size).toBe(0)
})
