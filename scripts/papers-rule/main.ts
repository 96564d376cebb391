// npm run papers:simulate [-- --simulations N] [-- --page]: measures how often the rule of the papers is wrong, and writes
// docs/results/papers-rule.json and docs/results/papers-rule.md. Default: 2000 simulations per cell, which take some ten minutes.
// --page only writes the page from papers-rule.json.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type RuleData, rulePage } from './page.ts'
import { type Cell, type CellResult, shapes, simulateCell } from './simulate.ts'

const { values } = parseArgs({
  options: { simulations: { type: 'string', default: '2000' }, page: { type: 'boolean', default: false } },
})
const simulations = Number(values.simulations)

const cells = shapes.flatMap((shape) =>
  [1, 3].flatMap((rivals) =>
    (shape.startsWith('tied') ? [0] : [0.7, 1.5, 3]).flatMap((deviation) =>
      (['none', 'equal', 'declared'] as const).map((truth): Cell => ({ shape, rivals, deviation, truth })),
    ),
  ),
)

function measure(): RuleData {
  const results: CellResult[] = []
  for (const cell of cells) {
    results.push(simulateCell(cell, simulations))
    console.error(`${results.length} of ${cells.length}: ${JSON.stringify(results.at(-1))}`)
  }
  return { simulations, cells: results }
}

const at = (file: string): string => fileURLToPath(new URL(`../../docs/results/${file}`, import.meta.url))
const rounded = (_: string, value: unknown): unknown =>
  typeof value === 'number' ? Math.round(value * 1e4) / 1e4 : value
if (!values.page) writeFileSync(at('papers-rule.json'), `${JSON.stringify(measure(), rounded, 1)}\n`)
writeFileSync(
  at('papers-rule.md'),
  rulePage(JSON.parse(readFileSync(at('papers-rule.json'), 'utf8')) as RuleData),
)
