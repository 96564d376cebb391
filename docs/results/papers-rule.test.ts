import { readFileSync } from 'node:fs'
import { wilsonInterval } from 'agoge/statistics'
import { expect, test } from 'vitest'
import { type RuleData, rulePage } from '../../scripts/papers-rule/page.ts'
import { simulateCell } from '../../scripts/papers-rule/simulate.ts'

const read = (file: string): string => readFileSync(new URL(file, import.meta.url), 'utf8')
const data = JSON.parse(read('papers-rule.json')) as RuleData

/** Three standard errors of a share of so many simulations. */
const simulations = 150
const slack = (share: number): number => 3 * Math.sqrt((share * (1 - share)) / simulations)

test('the page is that of the stored simulation', () => {
  expect(read('papers-rule.md')).toBe(rulePage(data))
})

test.each([
  ['normal', 1, 1.5],
  ['skewed left', 1, 1.5],
  ['bimodal', 1, 1.5],
  ['tied 0.5', 1, 0],
] as const)('plan and rule keep their promises: %s', (shape, rivals, deviation) => {
  const cell = { shape, rivals, deviation }
  const none = simulateCell({ ...cell, truth: 'none' }, simulations)
  expect(none.verdicts.reproduced).toBeLessThan(0.05 + slack(0.05))
  expect(none.verdicts.contradicted).toBeLessThan(0.05 + slack(0.05))
  const declared = simulateCell({ ...cell, truth: 'declared' }, simulations)
  expect(declared.verdicts.reproduced).toBeGreaterThan(0.8 - slack(0.8))
  expect(declared.verdicts.contradicted).toBeLessThan(0.02)
})

test('every stored share keeps the promise of the rule, within its Monte-Carlo interval', () => {
  const bounds = (share: number) => wilsonInterval(Math.round(share * data.simulations), data.simulations)
  expect(data.simulations).toBeGreaterThanOrEqual(200)
  for (const { truth, verdicts } of data.cells) {
    if (truth !== 'declared') expect(bounds(verdicts.reproduced).low).toBeLessThanOrEqual(0.05)
    expect(bounds(verdicts.contradicted).low).toBeLessThanOrEqual(0.05)
    if (truth === 'declared') expect(bounds(verdicts.reproduced).high).toBeGreaterThanOrEqual(0.8)
  }
})
