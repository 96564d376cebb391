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
rules or tool descriptions say what is to be done with a few words (\`npm run optimise:model\`). **Texts are proposed by a script** that stands for a large model
(\`bench/optimise/scripted-proposer.ts\`): in one of fifty cases it finds out from a failed attempt what was expected, else it draws a sentence on any operation, or a vague one.

## The first measurement: a thousand trials

Its plan was written and committed before its rows were measured. Ten pairs of tasks and agent (\`bench/optimise/pairs.ts\`), each with 24 training, 30 selection and 100 test tasks drawn anew for every seed. Answers must be
exact. The budget is what a thousand trials of the original cost, besides those before the search and those of the test. The search was developed on ten other pairs (other operations, marks and
tools: \`--set tried\`) with seeds below 30; the rows have seeds 31 to 34, which nothing was run with before.

- *adaptive*: the default picker, over all levers.
- *equal*: each lever gets the same part of the budget; what they found is joined at the end; the best by the selection tasks is chosen.
- *one lever*: each lever alone with the whole budget.

What counts is the success of the chosen setup on the test tasks, or of the original where nothing was chosen. Differences are averaged over the seeds of a pair; the interval over the ten pairs is the wider of Student's and Hall's on each side. The best
single lever of a pair is the one with the highest mean over two of the four seeds; its success is that with the other two, and both ways are averaged, so that it is not chosen by the result that is reported.
Bars: *adaptive* less *equal* is clear of zero; *adaptive* is at most 5 points below the best single lever, on each pair. On the pairs of development, the two pickers found nearly the same, so
it is not expected that the first bar is met.

The plan was four seeds, 31 to 34. Two were measured, all that the time allowed; nothing was left out of them. So the best single lever is chosen with one seed and measured with the other. The plan asked for the 5 points on average; they are asked of each pair here.
The rows are of a search whose lever \`rl\` still trained without what other levers had found.

An earlier measurement, with successive halving over the levers, another proposer and ten other pairs, met neither bar (+1.5 points over an equal split, -0.6 to +4.0): halving left out levers before they had found anything,
and gave the rest to one that could go no further.
`

const secondPlan = `## The second measurement: 400 and 1,000 trials

**The plan**, written and committed before its rows were measured (\`npm run optimise:bench -- picker --measurement tight --seeds 35-42\`, and \`--measurement again --seeds 35-38 --singles 2\`).

*Why again.* In the first measurement both pickers found the same on eight of ten pairs, with two seeds. Since then the search was mended on the pairs of development, for both pickers: demonstrations are proposed one set at a
time; a training leaves what the test of the best setup so far needs; SFT tries again when other levers have solved more tasks. The default picker also counts what a dear setup adds to the cost of the test, and gives
no lever more than an equal part of the budget before every lever has proposed that can do so with an equal part.

*What.* The same ten pairs. With 400 trials both pickers with seeds 35 to 42, and each lever alone with the first four of them; with 1,000 trials both pickers with seeds 35 to 38, and each lever alone with the first two. Nothing was run with these seeds before. Two budgets, since a picker
can only matter where the budget does not suffice for everything: 400 trials of the original, and 1,000 as before. The models were made anew: \`npm run optimise:model\` with 2,500,000 tokens, and with 350,000 for the pair
with the weaker model.

*Reckoning.* The ten pairs were made by hand; they are no sample of all pairs. So two intervals are given. *These ten pairs*: for each seed the mean difference over the pairs, then a 95% interval over the seeds.
*Pairs such as these*: as in the first measurement, an interval over the ten means of pairs. The bar against an equal split is asked of both, with each budget, and both answers are reported.
The bar against the best single lever is as before. There is no rerun with other seeds, budgets or models.

*What is expected.* On the pairs of development (\`--set tried\`, seeds 26 to 29, used while the search was mended) the picker was about ten points ahead with 400 trials, most of it from few pairs; with 1,000 trials an earlier state of the mended search was ahead by two. So
it is expected to be ahead on these ten pairs with 400 trials, and not to be clear of zero over pairs such as these.

**What came of it.** The bar against an equal split is not met. With 400 trials the picker is ahead by a few points, and the lower ends of both intervals are just below zero; with 1,000 trials nearly all of the difference is one pair, the two rules. So
the default picker seldom loses and sometimes finds something better, but an equal split is nearly as good. Nothing was left out. The rows are of a search that did not yet end when its best setup solves every selection task.
`

/** The page with all that is stored. */
export function optimisePage(first: Stored, tight: Stored, again: Stored, pairs: readonly Pair[]): string {
  return [
    plan,
    '### Whether the levers act',
    '',
    ...leverSection(first.levers),
    '### Searches of the first measurement',
    '',
    ...searchSection(first.searches, pairs),
    secondPlan,
    ...[
      { title: '### With 400 trials', searches: tight.searches },
      { title: '### With 1,000 trials', searches: again.searches },
    ].flatMap(({ title, searches }) => [title, '', ...searchSection(searches, pairs)]),
  ].join('\n')
}

function leverSection(levers: Stored['levers']): string[] {
  if (levers.length === 0) return []
  return [
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

/** With fewer there is no interval over seeds. */
const fewestSeeds = 5

const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length

function searchSection(searches: readonly SearchRow[], pairs: readonly Pair[]): string[] {
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
  const toBest = measured.flatMap(({ name }) => {
    const best = bestSingle(searches, name)
    const same = of(name, 'adaptive').filter(({ seed }) => best?.seeds.includes(seed))
    return best === undefined ? [] : [success(same) - best.success]
  })
  const adaptives = searches.filter(({ way }) => way === 'adaptive')
  const nothing = (way: string): number =>
    searches.filter((row) => row.way === way && row.found === null).length
  const seconds = adaptives.map((row) => row.seconds).sort((a, b) => a - b)
  return [
    `Seeds ${seeds.join(', ')}. Success on the 100 test tasks; *shown*: searches whose 95% interval of the gain is above zero.`,
    '',
    '| pair | | original | adaptive | equal | best single lever | shown |',
    '| --- | --- | ---: | ---: | ---: | ---: | ---: |',
    ...lines,
    '',
    `- *adaptive* less *equal*: ${summary(differences)} over ${differences.length} pairs${bySeed.length < fewestSeeds ? '' : `, ${summary(bySeed)} over ${bySeed.length} seeds`}.`,
    `- *adaptive* less the best single lever with the whole budget: ${summary(toBest)}; at most 5 points below it in ${toBest.filter((one) => one >= -0.05).length} of ${toBest.length} pairs.`,
    `- ${bars(differences, bySeed, toBest)}`,
    `- ${adaptives.filter(({ isShown }) => isShown).length} of ${adaptives.length} searches with *adaptive* show a gain; ${nothing('adaptive')} found nothing on the selection tasks and said so, and ${nothing('equal')} of those with *equal*.`,
    `- A search took ${seconds[0]} to ${seconds[seconds.length - 1]} s (median ${seconds[Math.floor(seconds.length / 2)]} s), and never more tokens than its budget (most: ${Math.max(...searches.map(({ tokens }) => tokens)).toLocaleString('en')}).`,
    '',
  ]
}

/** Chosen by half of its seeds and measured with the other half, both ways. */
function bestSingle(
  searches: readonly SearchRow[],
  pair: string,
): { ways: string[]; success: number; seeds: number[] } | undefined {
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
  return { ways: [...new Set(chosen)], success, seeds }
}

function bars(overPairs: readonly number[], overSeeds: readonly number[], toBest: readonly number[]): string {
  const isClear = (differences: readonly number[]): string => {
    const { low } = meanInterval(differences)
    return low !== null && low > 0 ? 'met' : 'not met'
  }
  const isClose = toBest.every((one) => one >= -0.05)
  const ofSeeds = overSeeds.length < fewestSeeds ? '' : ` over pairs and ${isClear(overSeeds)} over seeds`
  return `The bar against an equal split is ${isClear(overPairs)}${ofSeeds}; the bar against the best single lever is ${isClose ? 'met' : 'not met'}.`
}

function summary(differences: readonly number[]): string {
  const { mean: centre, low, high } = meanInterval(differences)
  return `${points(centre)} points (${interval({ low, high })})`
}
