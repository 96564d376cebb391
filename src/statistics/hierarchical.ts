import { createRandom } from '../engine/random/index.ts'
import { AgogeError } from '../error.ts'
import { studentQuantile, studentTail, tooFew } from './statistics.ts'
import type { BootstrapSettings, MeanEstimate } from './statistics.ts'

/** A value with the unit that it belongs to at each level, the highest first: the seed, the template, the task. */
export interface HierarchicalValue {
  value: number
  units: readonly string[]
}

/** A mean with its interval, its standard error, and the two-sided p-value of the mean being 0. The p-value is 1 without an interval. */
export type HierarchicalEstimate = MeanEstimate & { standardError: number; pValue: number }

/**
 * The mean of values that depend on each other at several levels, with an interval for new units of every level: other seeds, other
 * templates, other tasks. Each resample draws the units of every level with replacement. A unit whose name occurs under several
 * units of the level above, such as a template that all seeds were tested on, is drawn once for all of them; one that occurs under
 * a single unit is drawn among those under it. The interval is Student's, with the deviation of the resampled means and the degrees
 * of freedom of the highest level; a percentile interval would be too narrow for few seeds. With fewer than five units at the
 * highest level there is no interval. Default: 2000 resamples, level 0.95.
 *
 * Sources: Davison & Hinkley, Bootstrap Methods and their Application (1997), section 3.8, for nested levels; Owen, The pigeonhole
 * bootstrap, Annals of Applied Statistics 1 (2007), for crossed ones, where it is conservative.
 *
 * @throws AgogeError `unpaired` if the values have different numbers of levels, or none.
 * @example
 * hierarchicalInterval(episodes.map(({ success, seed, template, task }) => ({ value: success, units: [seed, template, task] })))
 */
export function hierarchicalInterval(
  values: readonly HierarchicalValue[],
  { resamples = 2000, level = 0.95, seed = 0 }: BootstrapSettings = {},
): HierarchicalEstimate {
  const depth = values.length === 0 ? 1 : values[0].units.length
  if (depth === 0 || values.some(({ units }) => units.length !== depth))
    throw new AgogeError('Values of a hierarchy need a unit at each level', {
      code: 'unpaired',
      given: [...new Set(values.map(({ units }) => units.length))].join(' and ') + ' levels',
      expected: 'the same number of levels for all values, one at least',
    })
  const mean = values.reduce((sum, { value }) => sum + value, 0) / Math.max(1, values.length)
  const levels = Array.from({ length: depth }, (_, at) => levelOf(values, at))
  const seeds = levels[0].count
  const none = tooFew(mean, seeds)
  if (none !== null) return { ...none, standardError: Number.NaN, pValue: 1 }
  // Resampling n units shows the spread of their mean too small by (n - 1) / n.
  const standardError = Math.sqrt(seeds / (seeds - 1)) * deviationOfMeans(values, levels, { resamples, seed })
  const half = studentQuantile((1 + level) / 2, seeds - 1) * standardError
  const pValue =
    standardError === 0
      ? Number(mean === 0)
      : Math.min(1, 2 * studentTail(Math.abs(mean) / standardError, seeds - 1))
  return { mean, low: mean - half, high: mean + half, n: values.length, standardError, pValue }
}

interface Level {
  /** The unit of each value, by number. */
  of: Int32Array
  count: number
  /** Units that are drawn among each other. */
  siblings: readonly Int32Array[]
}

function levelOf(values: readonly HierarchicalValue[], at: number): Level {
  const numbers = new Map<string, number>()
  const parents: Set<string>[] = []
  const of = Int32Array.from(values, ({ units }) => {
    const name = units[at]
    const number = numbers.get(name) ?? numbers.size
    numbers.set(name, number)
    ;(parents[number] ??= new Set()).add(at === 0 ? '' : units[at - 1])
    return number
  })
  const groups = new Map<string, number[]>()
  const isCrossed = parents.some((set) => set.size > 1)
  for (const [number, set] of parents.entries()) {
    const parent = isCrossed ? '' : [...set][0]
    groups.set(parent, [...(groups.get(parent) ?? []), number])
  }
  return { of, count: numbers.size, siblings: [...groups.values()].map((group) => Int32Array.from(group)) }
}

function deviationOfMeans(
  values: readonly HierarchicalValue[],
  levels: readonly Level[],
  { resamples, seed }: { resamples: number; seed: number | string },
): number {
  const random = createRandom(seed, 'hierarchical-bootstrap')
  const weights = levels.map(({ count }) => new Float64Array(count))
  let [drawn, sum, squares] = [0, 0, 0]
  for (let draw = 0; draw < resamples; draw++) {
    for (const [at, { siblings }] of levels.entries()) {
      weights[at].fill(0)
      for (const group of siblings)
        for (let i = 0; i < group.length; i++) weights[at][group[random.int(group.length)]]++
    }
    let [total, weighted] = [0, 0]
    for (let i = 0; i < values.length; i++) {
      let weight = 1
      for (let at = 0; at < levels.length && weight > 0; at++) weight *= weights[at][levels[at].of[i]]
      total += weight
      weighted += weight * values[i].value
    }
    // With few crossed units a resample may hold no value at all.
    if (total === 0) continue
    drawn++
    sum += weighted / total
    squares += (weighted / total) ** 2
  }
  const centre = sum / drawn
  return Math.sqrt(Math.max(0, squares / drawn - centre * centre))
}

/**
 * P-values adjusted for a family of comparisons, in the given order: reject those below the level, and the probability of any false
 * rejection is at most the level.
 *
 * Source: Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6 (1979).
 */
export function holmAdjusted(pValues: readonly number[]): number[] {
  const order = pValues.map((_, at) => at).sort((a, b) => pValues[a] - pValues[b])
  const adjusted = pValues.map(() => 0)
  let highest = 0
  for (const [rank, at] of order.entries()) {
    highest = Math.max(highest, Math.min(1, (pValues.length - rank) * pValues[at]))
    adjusted[at] = highest
  }
  return adjusted
}
