import { meanInterval } from 'agoge/statistics'
import type { Pair } from './pairs.ts'
import type { SearchRow, Stored } from './main.ts'

const percent = (share: number): string => `${Math.round(100 * share)}%`
const points = (share: number): string => `${share >= 0 ? '+' : ''}${(100 * share).toFixed(1)}`
const interval = ({ low, high }: { low: number | null; high: number | null }): string =>
  low === null || high === null ? '-' : `${points(low)} to ${points(high)}`

const plan = `# Levers and picker of \`agoge optimise\`

Made by \`npm run optimise:bench\`; the rows are in \`optimise.json\`.

No large model can be had where this is measured. The model here is the one of the package, trained further on prompts in which an instruction, demonstrations,
rules or tool descriptions say what is to be done with a few words (\`npm run optimise:model\`). **Texts are proposed by a script**, which draws from sentences on
all operations and from vague ones; it knows none of the tasks.

## The plan

Written before the rows below were measured. Ten pairs of tasks and agent (\`bench/optimise/pairs.ts\`), each with 24 training, 30 selection and 100 test tasks drawn anew for every seed. The budget includes the
test: 25,000 tokens, 70,000 with two models or at temperature 1, 200,000 with tools, so that it ends before the levers do. Answers must be exact. Seeds 1 to 19 were for trying the code out (budgets that no search
used up made both pickers equal, levers ended too soon, levers without any gain yet were left out by chance); the rows have seeds from 21.

- *halving*: the default picker, over all levers.
- *equal*: each lever gets the same part of the budget; the best by the selection tasks is chosen. Joining setups of two levers is part of both.
- *one lever*: each lever alone with the whole budget, with the first seed.

What counts is the success of the chosen setup on the test tasks, or of the original where nothing was chosen. Differences are averaged over the seeds of a pair; the interval is Student's over the ten pairs.
Bars: *halving* less *equal* clear of zero; *halving* at most 5 points below the best single lever of each pair.
`

/** The page with all that is stored. */
export function optimisePage({ levers, searches }: Stored, pairs: readonly Pair[]): string {
  return [plan, ...leverSection(levers), ...searchSection(searches, pairs)].join('\n')
}

function leverSection(levers: Stored['levers']): string[] {
  if (levers.length === 0) return []
  return [
    '## Whether the levers act',
    '',
    'One setup each, written by hand, on the 100 test tasks of a pair (seed 1).',
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

const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length

function searchSection(searches: readonly SearchRow[], pairs: readonly Pair[]): string[] {
  if (searches.length === 0) return []
  const of = (pair: string, way: string): SearchRow[] =>
    searches.filter((row) => row.pair === pair && row.way === way)
  const success = (rows: readonly SearchRow[]): number => mean(rows.map((row) => row.success))
  const single = (pair: string): { way: string; success: number } | undefined =>
    searches
      .filter((row) => row.pair === pair && row.way !== 'halving' && row.way !== 'equal')
      .reduce<SearchRow | undefined>(
        (best, row) => (best === undefined || row.success > best.success ? row : best),
        undefined,
      )
  const measured = pairs.filter(({ name }) => of(name, 'halving').length > 0 && of(name, 'equal').length > 0)
  const lines = measured.map(({ name, about }) => {
    const [halving, equal] = [of(name, 'halving'), of(name, 'equal')]
    const best = single(name)
    const shown = halving.filter(({ isShown }) => isShown).length
    return `| ${name} | ${about} | ${percent(mean(halving.map(({ original }) => original)))} | ${percent(success(halving))} | ${percent(success(equal))} | ${best === undefined ? '-' : `${percent(best.success)} (${best.way})`} | ${shown} of ${halving.length} |`
  })
  const differences = measured.map(({ name }) => success(of(name, 'halving')) - success(of(name, 'equal')))
  const toBest = measured.flatMap(({ name }) => {
    const best = single(name)
    return best === undefined ? [] : [success(of(name, 'halving')) - best.success]
  })
  const halvings = searches.filter(({ way }) => way === 'halving')
  const nothing = halvings.filter(({ found }) => found === null)
  const seeds = [...new Set(searches.map(({ seed }) => seed))].sort((a, b) => a - b)
  const seconds = halvings.map((row) => row.seconds).sort((a, b) => a - b)
  return [
    '## Searches',
    '',
    `Seeds ${seeds.join(', ')}. Success on the 100 test tasks; *shown*: searches whose 95% interval of the gain is above zero.`,
    '',
    '| pair | | original | halving | equal | best single lever | shown |',
    '| --- | --- | ---: | ---: | ---: | ---: | ---: |',
    ...lines,
    '',
    `- *halving* less *equal*: ${summary(differences)} over ${differences.length} pairs.`,
    `- *halving* less the best single lever with the whole budget: ${summary(toBest)}; at most 5 points below it in ${toBest.filter((one) => one >= -0.05).length} of ${toBest.length} pairs.`,
    `- ${bars(differences, toBest)}`,
    `- ${halvings.filter(({ isShown }) => isShown).length} of ${halvings.length} searches with *halving* show a gain; ${nothing.length} found nothing on the selection tasks and said so.`,
    `- A search took ${seconds[0]} to ${seconds[seconds.length - 1]} s (median ${seconds[Math.floor(seconds.length / 2)]} s), and never more tokens than its budget (most: ${Math.max(...searches.map(({ tokens }) => tokens)).toLocaleString('en')}).`,
    '',
  ]
}

function bars(differences: readonly number[], toBest: readonly number[]): string {
  const { low } = meanInterval(differences)
  const isBetter = low !== null && low > 0
  const isClose = toBest.every((one) => one >= -0.05)
  return `The bar against an equal split is ${isBetter ? 'met' : 'not met'}; the bar against the best single lever is ${isClose ? 'met' : 'not met'}. The best single lever is chosen with hindsight, by the test.`
}

function summary(differences: readonly number[]): string {
  const { mean: centre, low, high } = meanInterval(differences)
  return `${points(centre)} points (${interval({ low, high })})`
}
