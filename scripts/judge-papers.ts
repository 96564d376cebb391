// node --import tsx --conditions agoge-source scripts/judge-papers.ts: judges the stored scores of every paper again, after the
// intervals or a claim have changed. Writes research/papers/results and research/papers/gallery.html, and prints the changes.
// Trains nothing.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { judge, type Paper, type PaperResult } from '../research/runner/paper.ts'
import { renderGallery } from '../research/command/papers.ts'

const folder = new URL('../research/papers/', import.meta.url)
const names = readdirSync(folder)
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  .map((name) => basename(name, '.ts'))
  .sort()
const results: PaperResult[] = []
for (const name of names) {
  const file = new URL(`results/${name}.json`, folder)
  if (!existsSync(file)) continue
  const { default: paper } = (await import(new URL(`${name}.ts`, folder).href)) as { default: Paper }
  const stored = JSON.parse(readFileSync(file, 'utf8')) as PaperResult
  const result: PaperResult = { ...stored, ...judge(paper, stored.scores) }
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`)
  results.push(result)
  if (result.verdict !== stored.verdict) console.log(`${name}: ${stored.verdict} -> ${result.verdict}`)
}
writeFileSync(new URL('gallery.html', folder), renderGallery(results))
