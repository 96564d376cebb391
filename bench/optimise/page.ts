import { meanInterval } from 'agoge/statistics'
import type { Pair } from './pairs.ts'
import type { SearchRow, Stored } from './main.ts'
import { plan, secondPlan, thirdPlan, thirdReading } from './texts.ts'

const percent = (share: number): string => `${Math.round(100 * share)}%`
const points = (share: number): string => `${share >= 0 ? '+' : ''}${(100 * share).toFixed(1)}`
const interval = ({ low, high }: { low: number | null; high: number | null }): string =>
  low === null || high === null ? '-' : `${points(low)} to ${points(high)}`

/** Searches of a measurement, with the pairs that they are of and what its plan asks. */
export interface Measured {
  searches: readonly SearchRow[]
  pairs: readonly Pair[]
  bars: Bars
}

interface Bars {
  /** Of the intervals that must be clear of zero. */
  level: number
  /** A further interval that is stated. */
  stricter?: number
  /** Whether the five points to the best single lever are asked of each pair, or on average over them. */
  close: 'each' | 'average'
}

/** What the plans of the measurements ask. */
export const barsOf = {
  first: { level: 0.95, close: 'each' },
  third: { level: 1 - 0.05 / 3, stricter: 0.99, close: 'average' },
} satisfies Record<string, Bars>

/** The page with all that is stored. */
export function optimisePage(
  levers: Stored['levers'],
  measured: Record<'first' | 'tight' | 'again' | 'thirty', Measured>,
): string {
  return [
    plan,
    '### Whether the levers act',
    '',
    ...leverSection(levers),
    '### Searches of the first measurement',
    '',
    ...searchSection(measured.first),
    secondPlan,
    '### With 400 trials',
    '',
    ...searchSection(measured.tight),
    '### With 1,000 trials',
    '',
    ...searchSection(measured.again),
    thirdPlan,
    '### Searches of the third measurement',
    '',
    ...searchSection(measured.thirty),
    thirdReading,
  ].join('\n')
}

function leverSection(levers: Stored['levers']): string[] {
  if (levers.length === 0) return []
  return [
    'One setup each, written by hand, on the 100 test tasks of a pair of development (seed 1). *Tool descriptions* and *test time* hardly act on this model. `evolution` finds instructions too; `sft` and `rl` train the model, which the searches show.',
    '',
    '| lever | setup | without | with | gain in points, 95% interval |',
    '| --- | --- | ---: | ---: | ---: |',
    ...levers.map(
      ({ lever, about, before, after, gain }) =>
        `| ${lever} | ${about} | ${percent(before)} | ${percent(after)} | ${points(gain.mean)} (${interval(gain)}) |`,
    ),
    '',
  ]
}

/** With fewer there is no interval over seeds. */
const fewestSeeds = 5

const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length

function searchSection({ searches, pairs, bars: asked }: Measured): string[] {
  if (searches.length === 0) return []
  const of = (pair: string, way: string): SearchRow[] =>
    searches.filter((row) => row.pair === pair && row.way === way)
  const success = (rows: readonly SearchRow[]): number => mean(rows.map((row) => row.success))
  const measured = pairs.filter(({ name }) => of(name, 'adaptive').length > 0 && of(name, 'equal').length > 0)
  const lines = measured.map(({ name, about }) => {
    const [adaptive, equal] = [of(name, 'adaptive'), of(name, 'equal')]
    const best = bestSingle(searches, name)
    const shown = adaptive.filter(({ isShown }) => isShown).length
    return `| ${name} | ${about} | ${percent(mean(adaptive.map(({ original }) => original)))} | ${percent(success(adaptive))} | ${percent(success(equal))} | ${best === undefined ? '-' : `${percent(best.success)} (${best.ways.join(', ')})`} | ${shown} of ${adaptive.length} |`
  })
  const differences = measured.map(({ name }) => success(of(name, 'adaptive')) - success(of(name, 'equal')))
  const seeds = [...new Set(searches.map(({ seed }) => seed))].sort((a, b) => a - b)
  const bySeed = seeds.map((seed) => {
    const at = (way: string): number =>
      success(searches.filter((row) => row.seed === seed && row.way === way))
    return at('adaptive') - at('equal')
  })
  const seedsOfSingles = seeds.filter((seed) =>
    searches.some((row) => row.seed === seed && row.way !== 'adaptive' && row.way !== 'equal'),
  )
  const compared = measured.flatMap(({ name }) => {
    const best = bestSingle(searches, name)
    if (best === undefined) return []
    const adaptive = success(of(name, 'adaptive').filter(({ seed }) => best.seeds.includes(seed)))
    return [{ toBest: adaptive - best.success, toHindsight: adaptive - best.inHindsight }]
  })
  const toBest = compared.map((one) => one.toBest)
  const adaptives = searches.filter(({ way }) => way === 'adaptive')
  const nothing = (way: string): number =>
    searches.filter((row) => row.way === way && row.found === null).length
  const seconds = adaptives.map((row) => row.seconds).sort((a, b) => a - b)
  return [
    `Seeds ${seeds.join(', ')}; single levers ${seedsOfSingles.join(', ')}. Success on the 100 test tasks. *Best single lever*: with two names, the halves of the seeds chose different ones. *Shown*: searches with *adaptive* whose 95% interval of the gain is above zero.`,
    '',
    '| pair | | original | adaptive | equal | best single lever | shown |',
    '| --- | --- | ---: | ---: | ---: | ---: | ---: |',
    ...lines,
    '',
    `- *adaptive* less *equal*: ${summary(differences, asked)} over ${differences.length} pairs, ${bySeed.length < fewestSeeds ? `${points(mean(bySeed))} points over ${bySeed.length} seeds, too few for an interval` : `${summary(bySeed, asked)} over ${bySeed.length} seeds`}.`,
    `- *adaptive* less the best single lever with the whole budget, on the seeds of single levers: ${summary(toBest)}; at most 5 points below it in ${toBest.filter((one) => one >= -0.05).length} of ${toBest.length} pairs. *Adaptive* less the lever that is best in hindsight, which is chosen with the seeds that it is measured with, so that luck favours it: ${summary(compared.map((one) => one.toHindsight))}.`,
    `- ${barsText(asked, { differences, bySeed, toBest })}`,
    `- ${adaptives.filter(({ isShown }) => isShown).length} of ${adaptives.length} searches with *adaptive* show a gain. ${nothing('adaptive')} found nothing on the selection tasks and said so (with *equal*: ${nothing('equal')}); the others chose a setup whose gain the test did not show.`,
    `- A search took ${seconds[0]} to ${seconds[seconds.length - 1]} s (median ${seconds[Math.floor(seconds.length / 2)]} s), and never more tokens than its budget (most: ${Math.max(...searches.map(({ tokens }) => tokens)).toLocaleString('en')}).`,
    '',
  ]
}

interface BestSingle {
  /** What the halves chose. */
  ways: string[]
  success: number
  /** Of the lever that is best on all seeds. */
  inHindsight: number
  seeds: number[]
}

/** Chosen by half of its seeds and measured with the other half, both ways. */
function bestSingle(searches: readonly SearchRow[], pair: string): BestSingle | undefined {
  const rows = searches.filter((row) => row.pair === pair && row.way !== 'adaptive' && row.way !== 'equal')
  const seeds = [...new Set(rows.map(({ seed }) => seed))].sort((a, b) => a - b)
  const ways = [...new Set(rows.map(({ way }) => way))]
  if (seeds.length < 2) return undefined
  const of = (way: string, within: readonly number[]): number =>
    mean(rows.filter((row) => row.way === way && within.includes(row.seed)).map(({ success }) => success))
  const halves = [0, 1].map((rest) => seeds.filter((_, at) => at % 2 === rest))
  const chosen = halves.map((half) =>
    ways.reduce((best, way) => (of(way, half) > of(best, half) ? way : best)),
  )
  const success = mean([of(chosen[0], halves[1]), of(chosen[1], halves[0])])
  const inHindsight = Math.max(...ways.map((way) => of(way, seeds)))
  return { ways: [...new Set(chosen)], success, inHindsight, seeds }
}

interface Differences {
  /** *Adaptive* less *equal* for each pair, and for each seed. */
  differences: readonly number[]
  bySeed: readonly number[]
  /** *Adaptive* less the best single lever for each pair. */
  toBest: readonly number[]
}

function barsText({ level, close }: Bars, { differences, bySeed, toBest }: Differences): string {
  const isClear = (of: readonly number[]): string => {
    const { low } = meanInterval(of, { level })
    return low !== null && low > 0 ? 'met' : 'not met'
  }
  const isClose = close === 'each' ? toBest.every((one) => one >= -0.05) : mean(toBest) >= -0.05
  const ofSeeds = bySeed.length < fewestSeeds ? '' : ` over pairs and ${isClear(bySeed)} over seeds`
  return `The bar against an equal split is ${isClear(differences)}${ofSeeds}; the bar against the best single lever is ${isClose ? 'met' : 'not met'}.`
}

/** The mean with its 95% interval, and with those that bars ask for, if they are others. */
function summary(differences: readonly number[], { level, stricter }: Partial<Bars> = {}): string {
  const { mean: centre, ...usual } = meanInterval(differences)
  const wider = [level, stricter].flatMap((one) =>
    one === undefined || one === 0.95
      ? []
      : [`; ${(100 * one).toFixed(1)}%: ${interval(meanInterval(differences, { level: one }))}`],
  )
  return `${points(centre)} points (${interval(usual)}${wider.join('')})`
}
