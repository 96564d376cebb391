import { expect, test } from 'vitest'
import { comparisons, seedsOf } from './evidence.ts'
import { ablationPage, conclusion } from './page.ts'
import { plan, tasks } from './plan.ts'
import { bestOf, extension, tuned, type AblationRow } from './runs.ts'

const measures = {
  start: 0.3,
  tokens: 1e4,
  optimiserSteps: 160,
  clipFraction: 0,
  zeroVariance: 0.2,
  entropy: 0.3,
}

/** `sapo` is 8 points better, the others differ by noise of a tenth of a point. */
const gainOf = (preset: string, seed: number): number =>
  20 + (seed % 5) + (preset === 'sapo' ? 8 : 0) + ((preset.length * 7 + seed * 3) % 11) / 50

const rowsOf = (seeds: readonly number[], rates: readonly number[]): AblationRow[] =>
  Object.keys(tasks).flatMap((task) =>
    seeds.flatMap((seed) =>
      plan.presets.flatMap((preset) =>
        rates.map((rate) => ({
          task,
          preset,
          rate,
          seed,
          ...measures,
          gain: gainOf(preset, seed) - Math.abs(Math.log10(rate / 1e-3)),
        })),
      ),
    ),
  )

test('the grid grows where the best rate is at its edge, and stops after some extensions', () => {
  const grid = (...gains: number[]) => gains.map((gain, i) => ({ rate: plan.rates[i], gain }))
  expect(extension(grid(1, 2, 3, 2))).toBeNull()
  expect(extension(grid(3, 2, 1, 0))).toBe(3e-5)
  expect(extension(grid(0, 1, 2, 3))).toBe(1e-2)
  const long = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1].map((rate, gain) => ({ rate, gain }))
  expect(extension(long.slice(0, 5))).toBe(3e-2)
  expect(extension(long)).toBeNull()
})

test('a rate counts when all tuning seeds have run', () => {
  const rows = rowsOf(plan.tuningSeeds, plan.rates)
  expect(bestOf(tuned(rows, 'exact', 'grpo'))).toBe(1e-3)
  const short = rows.filter(({ seed, rate }) => seed !== 104 || rate !== 1e-3)
  expect(tuned(short, 'exact', 'grpo').map(({ rate }) => rate)).toEqual([1e-4, 3e-4, 3e-3])
})

test('a difference of 8 points and equality within 3 are found, and a wide spread decides neither', () => {
  const seeds = Array.from({ length: plan.fewestSeeds }, (_, i) => plan.firstSeed + i)
  const rows = rowsOf(seeds, [1e-3])
  const found = comparisons(rows, Object.keys(tasks))
  expect(found).toHaveLength(27)
  for (const each of found) expect(conclusion(each)).toBe(each.preset === 'sapo' ? 'different' : 'equal')
  const wide = rows.map((row) =>
    row.preset === 'kimi' ? { ...row, gain: row.gain + (row.seed % 2 === 0 ? 9 : -9) } : row,
  )
  const kimi = comparisons(wide, Object.keys(tasks)).find(({ preset }) => preset === 'kimi')
  expect(kimi && conclusion(kimi)).toBe('')
})

test('the number of seeds stays within the plan', () => {
  const { seeds, deviation } = seedsOf(rowsOf(plan.tuningSeeds, plan.rates), 'rare')
  expect(deviation).toBeLessThan(0.3)
  expect(seeds).toHaveLength(plan.fewestSeeds)
})

test('the page has results once all runs are made', () => {
  const seeds = Array.from({ length: plan.fewestSeeds }, (_, i) => plan.firstSeed + i)
  const ablation = { plan, tuning: rowsOf(plan.tuningSeeds, plan.rates), results: rowsOf(seeds, [1e-3]) }
  expect(ablationPage(ablation, false)).toContain('The runs are not complete.')
  const page = ablationPage(ablation, true)
  expect(page).toMatch(/`sapo` \| \S+ \(\S+ to \S+\) \| \+8\.\d \(\+7\.\d to \+8\.\d\) \| different \| 1e-3/)
  expect(page).toContain('Of 27 comparisons with `grpo-damped`, 3 show a difference')
})
