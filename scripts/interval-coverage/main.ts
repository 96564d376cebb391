// npm run coverage [-- --simulations N] [-- --parts NAMES] [-- --page]: measures how often the intervals of src/statistics contain
// the true value, and writes docs/results/coverage.json and docs/results/coverage.md. Default: 1000 simulations per cell (twice as
// many for anytime), which take a few minutes. --parts measures only those, as "success,clustered", and keeps the
// others of coverage.json. --page only writes the page from coverage.json.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { anytimeCoverage, comparisons } from './anytime.ts'
import type { ComparisonName } from './anytime.ts'
import { clusteredGrid } from './clustered.ts'
import { distributions } from './distributions.ts'
import type { DistributionName } from './distributions.ts'
import {
  arms,
  improvementCoverage,
  interquartileCoverage,
  meanCoverage,
  policies,
  successCoverage,
} from './measure.ts'
import { coveragePage } from './page.ts'
import type { CoverageData } from './page.ts'

const { values } = parseArgs({
  options: {
    simulations: { type: 'string', default: '1000' },
    parts: { type: 'string' },
    page: { type: 'boolean', default: false },
  },
})
const simulations = Number(values.simulations)
const names = Object.keys(distributions) as DistributionName[]

const measures: { [part in keyof CoverageData]: () => CoverageData[part] } = {
  simulations: () => simulations,
  mean: () =>
    names.flatMap((name) =>
      [5, 10, 20, 50, 100].map((n) => ({ name, n, ...meanCoverage(name, n, simulations) })),
    ),
  interquartile: () =>
    names
      .filter((name) => !/bernoulli|rare/.test(name))
      .flatMap((name) =>
        [5, 10, 20].map((n) => ({ name, n, ...interquartileCoverage(name, n, simulations) })),
      ),
  improvement: () =>
    (Object.keys(arms) as (keyof typeof arms)[]).flatMap((name) =>
      [5, 8, 10, 20].map((n) => ({ name, n, ...improvementCoverage(name, n, simulations) })),
    ),
  success: () =>
    (Object.keys(policies) as (keyof typeof policies)[]).flatMap((name) =>
      (
        [
          [5, 1],
          [10, 1],
          [20, 1],
          [100, 1],
          [10, 8],
          [20, 8],
          [100, 4],
        ] as const
      ).map(([tasks, attempts]) => ({
        name,
        tasks,
        attempts,
        ...successCoverage(name, tasks, attempts, simulations),
      })),
    ),
  clustered: () => clusteredGrid(simulations),
  anytime: () =>
    (Object.keys(comparisons) as ComparisonName[]).flatMap((name) =>
      [50, 300, 1000].map((n) => anytimeCoverage(name, n, 2 * simulations)),
    ),
}

const at = (file: string): string => fileURLToPath(new URL(`../../docs/results/${file}`, import.meta.url))
const rounded = (_: string, value: unknown): unknown =>
  typeof value === 'number' ? Math.round(value * 1e4) / 1e4 : value
const stored = (): CoverageData => JSON.parse(readFileSync(at('coverage.json'), 'utf8')) as CoverageData
if (!values.page) {
  const parts = values.parts?.split(',') ?? Object.keys(measures)
  const measured = Object.entries(measures).flatMap(([part, of]) =>
    parts.includes(part) ? [[part, of()] as const] : [],
  )
  const data = { ...(values.parts !== undefined && stored()), ...Object.fromEntries(measured) }
  writeFileSync(at('coverage.json'), `${JSON.stringify(data, rounded, 1)}\n`)
}
writeFileSync(at('coverage.md'), coveragePage(stored()))
