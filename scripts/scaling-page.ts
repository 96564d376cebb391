// Writes the results of scripts/scaling-study.ts into docs/results/scaling.md, between its marks.
//   npx tsx scripts/scaling-page.ts [studies/scaling/results.json]
// With a file, its rows are stored in docs/results/scaling.json first.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { average, type MeanEstimate, meanInterval } from '../src/statistics/statistics.ts'

interface Row {
  size: string
  parameters: number
  tokens: number
  learningRate: number | null
  seconds: number
  right: Record<string, string>
  nats: number[]
}

const at = (name: string): string => fileURLToPath(new URL(`../docs/results/${name}`, import.meta.url))
const [, , given] = process.argv
if (given !== undefined) {
  const rows = (JSON.parse(readFileSync(given, 'utf8')) as Row[]).map(
    ({ size, parameters, tokens, learningRate, seconds, right, nats }) => ({
      size,
      parameters,
      tokens,
      learningRate,
      seconds: Math.round(seconds),
      right,
      // Two decimals are far below the differences.
      nats: nats.map((value) => Number(value.toFixed(2))),
    }),
  )
  writeFileSync(at('scaling.json'), `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`)
}
if (!existsSync(at('scaling.json')))
  throw new Error('there is no docs/results/scaling.json: give the results of a study')
const all = JSON.parse(readFileSync(at('scaling.json'), 'utf8')) as Row[]

const outcomes = ({ right }: Row): number[] =>
  Object.values(right).flatMap((text) => Array.from(text, Number))
const byRate = all.filter(({ learningRate }) => learningRate !== null)
const main = all.filter(({ learningRate }) => learningRate === null)
const sizes = [...new Set(main.map(({ size }) => size))].sort(
  (a, b) => Number.parseFloat(a) - Number.parseFloat(b),
)
/** Tokens of the smallest size with the same work; the sizes are named by their rounded parameters. */
const workOf = ({ size, tokens }: Row): number =>
  (tokens / 1e6) * (size === '0.9M' ? 1 : Number.parseFloat(size))
const budgets = [...new Set(main.map(workOf))]
  .sort((a, b) => a - b)
  .filter((work) => main.filter((row) => workOf(row) === work).length > 1)

const cell = (row: Row): string[] => [
  row.size,
  `${row.tokens / 1e6}M`,
  (row.seconds / 60).toFixed(1),
  `${(100 * average(outcomes(row))).toFixed(1)}%`,
  average(row.nats).toFixed(2),
]
const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const table = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  [header, header.map(() => '---'), ...rows].map(line).join('\n')
const interval = ({ mean, low, high }: MeanEstimate, digits: number, scale = 1): string =>
  low === null
    ? (scale * mean).toFixed(digits)
    : `${(scale * mean).toFixed(digits)} (${(scale * low).toFixed(digits)} to ${(scale * high).toFixed(digits)})`
const paired = (a: readonly number[], b: readonly number[]): MeanEstimate =>
  meanInterval(a.map((value, i) => value - b[i]))

const differences = budgets.flatMap((work) => {
  const smallest = main.find((row) => row.size === '0.9M' && workOf(row) === work)
  if (smallest === undefined) return []
  return main
    .filter((row) => row !== smallest && workOf(row) === work)
    .map((row) => [
      `${smallest.tokens / 1e6}M`,
      `${row.size}, ${row.tokens / 1e6}M`,
      interval(paired(outcomes(row), outcomes(smallest)), 1, 100),
      interval(paired(row.nats, smallest.nats), 2),
    ])
})
const equalTokens = [...new Set(main.map(({ tokens }) => tokens))].flatMap((tokens) => {
  const smallest = main.find((row) => row.size === '0.9M' && row.tokens === tokens)
  if (smallest === undefined) return []
  return main
    .filter((row) => row !== smallest && row.tokens === tokens)
    .map((row) => [
      `${tokens / 1e6}M`,
      row.size,
      interval(paired(outcomes(row), outcomes(smallest)), 1, 100),
      interval(paired(row.nats, smallest.nats), 2),
    ])
})
const rates = byRate.flatMap((row) => {
  const usual = main.find(({ size, tokens }) => size === row.size && tokens === row.tokens)
  if (usual === undefined) return []
  return [
    [
      row.size,
      `${row.tokens / 1e6}M`,
      String(row.learningRate),
      average(row.nats).toFixed(1),
      average(usual.nats).toFixed(1),
    ],
  ]
})

const ordered = [...main].sort((a, b) => sizes.indexOf(a.size) - sizes.indexOf(b.size) || a.tokens - b.tokens)
const part = `Right conversations and nats of each model. Minutes are of training on two cores that did other work too, so they are upper bounds.

${table(['parameters', 'tokens', 'minutes', 'right', 'nats a conversation'], ordered.map(cell))}

At equal work, the larger size less 0.9M on the same conversations, with 95% intervals. More right is better, fewer nats are better.

${table(['tokens of 0.9M', 'against', 'right, points', 'nats'], differences)}

At equal tokens, the same:

${table(['tokens', 'size', 'right, points', 'nats'], equalTokens)}

Other learning rates, by nats (the last column is the rate of the stages):

${table(['parameters', 'tokens', 'peak of all stages', 'nats', 'nats with the usual rates'], rates)}
`
const page = at('scaling.md')
const [begin, end] = ['<!-- results: npx tsx scripts/scaling-page.ts -->', '<!-- end of results -->']
const text = readFileSync(page, 'utf8')
const [before, rest] = text.split(begin)
if (rest === undefined) throw new Error(`${page} has no ${begin}`)
writeFileSync(page, `${before}${begin}\n\n${part}\n${end}${rest.split(end)[1]}`)
