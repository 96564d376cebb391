// npm run ablation: tunes every preset on every task, then makes the reported runs, and writes docs/results/ablation.json and
// ablation.md. Continues an interrupted ablation: each run is stored when it ends. Use AGOGE_THREADS=1: the model is tiny.
// `-- --plan` only writes the page as far as the runs have come.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { seedsOf } from './evidence.ts'
import { ablationPage } from './page.ts'
import { plan, tasks } from './plan.ts'
import { bestOf, extension, sameRun, trainAndScore, tuned } from './runs.ts'
import type { Ablation, AblationRow, RunKey } from './runs.ts'

const place = (name: string): string => fileURLToPath(new URL(`../../docs/results/${name}`, import.meta.url))
const ablation = load()
if (process.argv.includes('--plan')) writeFileSync(place('ablation.md'), ablationPage(ablation, false))
else await runAll()

async function runAll(): Promise<void> {
  for (const task of Object.keys(tasks)) {
    await tune(task)
    const { seeds } = seedsOf(ablation.tuning, task)
    const rates = plan.presets.map((preset) => bestOf(tuned(ablation.tuning, task, preset)))
    const runs = seeds.flatMap((seed) =>
      plan.presets.map((preset, i) => ({ task, preset, rate: rates[i], seed })),
    )
    await make(runs, ablation.results)
  }
  writeFileSync(place('ablation.md'), ablationPage(ablation, true))
}

/** The grid, then further rates until no best rate is at an edge that may be extended. */
async function tune(task: string): Promise<void> {
  let wanted: { preset: string; rate: number }[] = plan.presets.flatMap((preset) =>
    plan.rates.map((rate) => ({ preset, rate })),
  )
  while (wanted.length > 0) {
    // Seed by seed, so that runs share the start.
    const runs = plan.tuningSeeds.flatMap((seed) => wanted.map((each) => ({ task, ...each, seed })))
    await make(runs, ablation.tuning)
    wanted = plan.presets.flatMap((preset) => {
      const rate = extension(tuned(ablation.tuning, task, preset))
      return rate === null ? [] : [{ preset, rate }]
    })
  }
}

async function make(runs: readonly RunKey[], rows: AblationRow[]): Promise<void> {
  for (const [i, run] of runs.entries()) {
    if (rows.some((row) => sameRun(row, run))) continue
    const row = await trainAndScore(run)
    rows.push(row)
    store()
    process.stderr.write(
      `${i + 1}/${runs.length} ${row.task} ${row.preset} ${row.rate} seed ${row.seed}: ${row.gain.toFixed(1)} points\n`,
    )
  }
}

/** In one rename, so that a stop never leaves half a file. */
function store(): void {
  writeFileSync(place('ablation.json.part'), `${JSON.stringify(ablation, null, 1)}\n`)
  renameSync(place('ablation.json.part'), place('ablation.json'))
}

function load(): Ablation {
  const none: Ablation = { plan, tuning: [], results: [] }
  if (!existsSync(place('ablation.json'))) return none
  const known = JSON.parse(readFileSync(place('ablation.json'), 'utf8')) as Ablation
  if (JSON.stringify(known.plan) !== JSON.stringify(plan))
    throw new Error('docs/results/ablation.json is of another plan: remove it to begin anew')
  return known
}
