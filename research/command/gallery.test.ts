import { expect, test } from 'vitest'
import { type ArmRuns, type Paper, type PaperRuns } from '../runner/paper.ts'
import { makePlan } from '../runner/plan.ts'
import { paperResult } from '../runner/result.ts'
import paper from '../runner/fixtures/two-arms.ts'
import { renderGallery } from './gallery.ts'

const seeds = Array.from({ length: 12 }, (_, i) => i)
const runsOf = (scores: number[], more: Partial<ArmRuns> = {}): ArmRuns => ({
  scores,
  measures: {},
  starts: [],
  unreached: 0,
  seconds: 30,
  ...more,
})
const gained = seeds.map(() => 100)
const runs: PaperRuns = {
  arms: {
    more: runsOf(
      seeds.map((s) => s + 100),
      { measures: { gained }, starts: seeds, unreached: 2 },
    ),
    less: runsOf(seeds, { unreached: 3 }),
    failing: runsOf(seeds.map((s) => s + 300)),
  },
  again: runsOf(seeds.map((s) => (s * 5) % 12)),
}
const judged = paper as Paper
const date = new Date('2026-01-02T03:04:05Z')
const plan = makePlan(judged, {
  module: 'hash',
  pilot: { runs, seeds: { from: 101, to: 112 } },
  most: 1000,
  used: 0,
  command: 'agoge papers plan two-arms',
  date,
})
const result = paperResult(judged, plan, runs, {
  command: 'agoge papers run two-arms',
  date: new Date('2026-01-03T03:04:05Z'),
  machine: '2 cores',
})

test('the result is JSON', () => {
  expect(result).toMatchObject({ schema: 2, verdict: 'reproduced', seeds: { from: 1001, to: 1016 } })
  expect(JSON.parse(JSON.stringify(result))).toEqual(result)
})

test('the gallery shows effects, arms, checks, seeds, command, and links only to plan and result', () => {
  const page = renderGallery([{ plan, result }], { notPlanned: 3, notRun: 2, outOfDate: 1 })
  for (const text of [
    'Two arms &lt;and&gt; a third',
    'Seeds &amp; budgets arrive.',
    '1 reproduced',
    '3 not planned, 2 planned and not run, 1 out of date',
    '100 (100 to 100), more is better',
    '<b>failing</b>, which the claim does not name, beats more',
    'Score before training: more 5.5',
    '2 of 12 cut off at the budget',
    'Seeds 1001 to 1016 for each arm, 1017 to 1032 for the A/A control',
    '<code>agoge papers run two-arms</code>',
    'A/A control: less does not differ',
    'positive control: more is better than less',
  ])
    expect(page).toContain(text)
  expect(page.match(/<circle class="run"/g)).toHaveLength(36)
  expect(page.match(/href="[^"]+"/g)).toEqual(['href="plans/two-arms.json"', 'href="results/two-arms.json"'])
  expect(page).not.toMatch(/NaN|Infinity|src=|undefined/)
})
