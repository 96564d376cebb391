import { candidates } from './candidates.ts'
import type { Candidate } from './candidates.ts'
import { distributions } from './distributions.ts'
import type { DistributionName } from './distributions.ts'
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
`
}
