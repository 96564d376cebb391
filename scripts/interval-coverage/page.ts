import { candidates } from './candidates.ts'
import type { Candidate } from './candidates.ts'
import { distributions } from './distributions.ts'
import type { DistributionName } from './distributions.ts'
import type { AnytimeCell } from './anytime.ts'
import { grid } from './clustered.ts'
import type { ClusteredCell } from './clustered.ts'
import type { Coverage } from './measure.ts'

/** `coverage.json`. */
export interface CoverageData {
  simulations: number
  mean: ({ name: DistributionName; n: number } & Coverage<Candidate>)[]
  interquartile: ({ name: string; n: number } & Coverage<'percentile'>)[]
  improvement: ({ name: string; n: number } & Coverage<'percentile' | 'Wilson'>)[]
  success: ({ name: string; tasks: number; attempts: number } & Coverage<
    'gain' | 'success' | 'success of episodes'
  >)[]
  clustered: ClusteredCell[]
  anytime: AnytimeCell[]
}

const percent = (share: number): string => (100 * share).toFixed(1)
const table = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** One row per distribution or case, one column per sample size. */
function bySize<Name extends string>(
  cells: readonly ({ name: string; n: number } & Coverage<Name>)[],
  shown: readonly Name[],
): string {
  const sizes = [...new Set(cells.map(({ n }) => n))]
  const names = [...new Set(cells.map(({ name }) => name))]
  return table(
    ['', ...sizes.map((n) => `n = ${n}`)],
    names.map((name) => [
      name,
      ...sizes.map((n) =>
        cells
          .filter((cell) => cell.name === name && cell.n === n)
          .flatMap((cell) => shown.map((each) => percent(cell[each])))
          .join(' / '),
      ),
    ]),
  )
}

/** The page of `coverage.json` in Markdown. */
export function coveragePage({
  simulations,
  mean,
  interquartile,
  improvement,
  success,
  clustered,
  anytime,
}: CoverageData): string {
  return `# Coverage of the intervals

\`npm run coverage\`: in how many per cent of ${simulations} simulations a nominal 95% interval holds the true value; chance alone moves a cell by a point or
two. Every number is in [coverage.json](coverage.json).

## The mean: returns of episodes, differences

In each cell: ${candidates.join(' / ')}.

${bySize(mean, candidates)}

${Object.entries(distributions)
  .map(([name, { about }]) => `- ${name}: ${about}`)
  .join('\n')}

\`meanInterval\` is "Student and Hall": on each side the wider of Student's interval and Hall's transformation of it, which takes skewness
out (1992). The percentile bootstrap and BCa are too narrow for few values, Student's alone is where data are skewed. The bootstrap-t covers as
well, but its interval is infinite where a resample has no spread (a tenth of the data that differs is enough), is half as wide again for
five values, and needs thousands of resamples. No interval knows of outcomes that the sample has none of: where one case in ten
fails, ten cases have no failure in 35 of 100 samples. Where all values are equal the interval has no width.

Fewer than five values have no interval: "no interval: n = 3, fewer than 5".

## The interquartile mean over seeds

Percentile bootstrap as rliable has it, of one task. It is about five points short with five seeds, two with ten; Tukey and McLaughlin's
interval of trimmed means did no better where scores have two modes:

${bySize(interquartile, ['percentile'])}

## The probability of improvement

Percentile bootstrap / as it is: Wilson's interval for the number of independent trials that Brunner and Munzel's variance says.

${bySize(improvement, ['percentile', 'Wilson'])}

The bootstrap has no width where every run of one arm is ahead of every run of the other, which happens by chance too.

## Success, and the difference of two policies on the same tasks

Tasks are drawn, each with its chance of success. \`compareSuccess\` averages over the attempts at a task first; success has Wilson's interval for as many
trials as the spread between tasks says. The last column takes every episode as independent.

${table(
  ['policies', 'tasks', 'attempts each', 'difference', 'success', 'success, episodes as independent'],
  success.map((cell) => [
    cell.name,
    String(cell.tasks),
    String(cell.attempts),
    percent(cell.gain),
    percent(cell.success),
    percent(cell['success of episodes']),
  ]),
)}

${differences(success)} With one attempt at each of few tasks it is too wide: a gain is then 1, 0 or -1, few
results are possible, and the interval adds a task to each side, since without them five equal results would have an interval without width.

## Success over tasks with several trials each

\`groupedWilsonInterval\` where two trials of a task are correlated by 0 (tasks are equally hard) / 0.3 / 0.7 / 1 (a task always or never
succeeds): the chances of tasks have a beta distribution. The first number of each row is the number
of tasks, the second that of trials of each; with one trial there is one number.

${table(
  ['tasks', 'trials', ...grid.success.map((share) => `success ${100 * share}%`)],
  grid.tasks.flatMap((tasks) =>
    grid.trials.map((trials) => [
      String(tasks),
      String(trials),
      ...grid.success.map((share) =>
        clustered
          .filter((cell) => cell.tasks === tasks && cell.trials === trials && cell.success === share)
          .map(({ coverage }) => percent(coverage))
          .join(' / '),
      ),
    ]),
  ),
)}

${spread(clustered)}

Where outcomes are few, no interval can be had whose coverage lies between 93 and 97% for every rate: ten tasks that always or never
succeed have eleven possible results, and as the true rate crosses a bound of one of them, coverage jumps by the chance of that result.
There the interval is rather too wide than too narrow, but for the settings that are listed. With one trial a task it is Wilson's own. With
several, tasks whose outcome is rare show little of how much they differ, so the correlation is drawn towards 1; that lifts coverage above
97% where success is rare and tasks are in truth alike.

## Intervals that hold at any time

A comparison on tasks, one trial each, followed task by task; ${2 * simulations} simulations a row, so that a share of 2.5% is known to ${percent(2 * Math.sqrt((0.025 * 0.975) / (2 * simulations)))} points. An anytime
interval must hold the true difference after *every* task at once, for any rule of stopping. It is made for a number of tasks (here that of the row), and
holds for any other too. So 95% is a lower bound of the column "at all times": ${within(anytime)}. It is neared where
many tasks are at odds; otherwise a part of the 5% is kept for later tasks. Each interval is intersected with those before it, so after the last
task it holds as often as at all times, and is wider than one for a number of tasks that was fixed before. *Clear*: tasks after which half of the
anytime intervals had been clear of zero; – where they were not after all tasks. The last two columns say how often the better side, or the first of
two that are the same, is called worse. Where they are the same that is a false regression, of which 2.5% are allowed, and as many for the other side.

${table(
  [
    'comparison',
    'tasks',
    'anytime, at all times',
    'fixed number of tasks',
    'clear',
    'worse, fixed',
    'worse, anytime',
  ],
  anytime.map((cell) => [
    cell.name,
    String(cell.n),
    ...[cell.path, cell.fixed].map(percent),
    cell.clear === null ? '–' : String(cell.clear),
    ...[cell.fixedBelow, cell.anytimeBelow].map(percent),
  ]),
)}
`
}

/** How the difference covers where tasks or attempts are many. */
function differences(cells: CoverageData['success']): string {
  const many = cells.filter(({ tasks, attempts }) => attempts > 1 || tasks >= 100).map(({ gain }) => gain)
  const near = many.filter((gain) => gain >= 0.93 && gain <= 0.97).length
  return `The difference, with several attempts each or 100 tasks: ${near} of ${many.length} rows within 93 and 97%, from ${percent(Math.min(...many))} to ${percent(Math.max(...many))}%.`
}

/** How many rows hold at all times in at most 97% of the simulations. */
function within(cells: readonly AnytimeCell[]): string {
  const near = cells.filter(({ path }) => path <= 0.97).length
  return `${near} of ${cells.length} rows lie between 95 and 97%, the others above`
}

/** Tasks with the rarer outcome from which on coverage is expected to be near 95%. */
const enough = 10

/** How many settings lie within 93 and 97%, where the rarer outcome is not, or is, that of few tasks. */
function spread(cells: readonly ClusteredCell[]): string {
  const few = (cell: ClusteredCell): boolean => cell.tasks * Math.min(cell.success, 1 - cell.success) < enough
  const line = (some: readonly ClusteredCell[]): string => {
    const values = some.map(({ coverage }) => coverage)
    const within = values.filter((value) => value >= 0.93 && value <= 0.97).length
    const [least, most] = [Math.min(...values), Math.max(...values)]
    return `${within} of ${some.length} settings within 93 and 97%, ${values.filter((value) => value < 0.93).length} below, ${values.filter((value) => value > 0.97).length} above; from ${percent(least)} to ${percent(most)}%`
  }
  const below = cells
    .filter(({ coverage }) => coverage < 0.93)
    .map(
      ({ tasks, trials, success, correlation, coverage }) =>
        `${tasks} x ${trials} at ${100 * success}%, correlation ${correlation}: ${percent(coverage)}%`,
    )
  return `- Where the rarer outcome is expected of at least ${enough} tasks: ${line(cells.filter((cell) => !few(cell)))}.
- Where it is expected of fewer: ${line(cells.filter(few))}.
- Below 93%: ${below.join('; ') || 'none'}.`
}
