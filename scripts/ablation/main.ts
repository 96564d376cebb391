// npm run ablation [-- FOLDER]: trains every variant with every seed, continues an interrupted run, and writes
// docs/results/ablation.json and ablation.md. FOLDER (default: .agoge/ablation) stores the weights. One thread.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createModel } from './model.ts'
import { ablationPage } from './page.ts'
import type { Ablation } from './page.ts'
import { playVariant, warmStart } from './play.ts'
import { seeds, variants } from './variants.ts'

const root = resolve(process.argv[2] ?? '.agoge/ablation')
const place = (name: string): URL => new URL(`../../docs/results/${name}`, import.meta.url)

// One backend for all runs: each loads the warm start into it. Compiling its programs takes as long as many steps.
const backend = createModel()
const warm = await warmStart(root, backend)
const known = existsSync(place('ablation.json'))
  ? (JSON.parse(readFileSync(place('ablation.json'), 'utf8')) as Ablation)
  : null
if (known !== null && known.before.sampled !== warm.success.sampled)
  throw new Error('docs/results/ablation.json is of another warm start: remove it to begin anew')
const { before, results }: Ablation = known ?? { before: warm.success, results: [] }

for (const seed of seeds) {
  for (const variant of Object.keys(variants)) {
    if (results.some((result) => result.variant === variant && result.seed === seed)) continue
    const result = await playVariant(root, { variant, seed, warm: warm.weights, backend })
    results.push(result)
    writeFileSync(place('ablation.json'), `${JSON.stringify({ before, results }, null, 1)}\n`)
    const { greedy, sampled } = result
    process.stderr.write(
      `${new Date().toISOString().slice(11, 19)} ${variant} ${seed}: sampled ${sampled.toFixed(3)}, greedy ${greedy.toFixed(3)}\n`,
    )
  }
  writeFileSync(place('ablation.md'), ablationPage({ before, results }))
}
await backend.dispose()
