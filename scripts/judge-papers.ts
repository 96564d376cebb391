// node --import tsx --conditions agoge-source scripts/judge-papers.ts: judges the stored runs of every paper again, after the rule has
// changed. Writes research/papers/results, and prints the changes. Runs nothing. Afterwards: agoge papers report.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { judge } from '../research/runner/judge.ts'
import type { Paper } from '../research/runner/paper.ts'
import { type PaperResult, resultText } from '../research/runner/result.ts'

const folder = new URL('../research/papers/', import.meta.url)
const names = readdirSync(folder)
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  .map((name) => basename(name, '.ts'))
  .sort()
for (const name of names) {
  const file = new URL(`results/${name}.json`, folder)
  if (!existsSync(file)) continue
  const { default: paper } = (await import(new URL(`${name}.ts`, folder).href)) as { default: Paper }
  const stored = JSON.parse(readFileSync(file, 'utf8')) as PaperResult
  const result: PaperResult = { ...stored, ...judge(paper, stored.runs) }
  writeFileSync(file, resultText(result))
  if (result.verdict !== stored.verdict) console.log(`${name}: ${stored.verdict} -> ${result.verdict}`)
}
