// node scripts/results-table.mjs RUN...: the results of finished runs of the main job as one Markdown page on standard
// output. Made with: for s in 1 2 3; do agoge train --seed $s --compare-supervised --out runs/$s; done
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const runs = process.argv
  .slice(2)
  .map((folder) => JSON.parse(readFileSync(join(folder, 'summary.json'), 'utf8')))
const percent = (share) => `${(100 * share).toFixed(1)}%`
const interval = ({ mean, low, high }) =>
  `${percent(mean)} (${(100 * low).toFixed(1)}–${(100 * high).toFixed(1)})`
const points = ({ mean, low, high }) =>
  `${(100 * mean).toFixed(1)} points (${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)})`
const stage = (run, name) => run.stages.find((each) => each.name === name)
const row = (cells) => `| ${cells.join(' | ')} |`
const weakest = ({ families }) => {
  const [name, share] = Object.entries(families).toSorted(([, a], [, b]) => a - b)[0]
  return `${name} ${percent(share)}`
}
const names = ['base', 'warm-start', 'supervised', 'rl']

const first = runs[0]
console.log('# Results of the main job\n')
console.log(
  `\`agoge train --seed N --compare-supervised\` on ${first.machine.cores} cores (${first.machine.cpu}), Node ${first.machine.node}; ${stage(first, 'rl').success.n} held-out tasks a stage, greedy, 95% Wilson intervals; gain: reinforcement learning less continued supervision, paired by task. Made by \`node scripts/results-table.mjs\`.\n`,
)
console.log(
  row([
    'seed',
    ...names,
    'gain',
    'weakest family',
    'calls',
    'invalid calls',
    'unseen wordings',
    'time without the compared arm',
  ]),
)
console.log(row(Array(11).fill('---')))
for (const run of runs) {
  const rl = stage(run, 'rl')
  const supervised = stage(run, 'supervised')
  const own = run.seconds - (supervised ? supervised.seconds + supervised.evaluationSeconds : 0)
  console.log(
    row([
      run.seed,
      ...names.map((name) => (stage(run, name) ? interval(stage(run, name).success) : '–')),
      run.gain ? points(run.gain) : '–',
      weakest(rl),
      rl.calls.toFixed(2),
      percent(rl.invalidCalls),
      run.unseenWording ? interval(run.unseenWording.success) : '–',
      `${Math.floor(own / 60)} min ${Math.round(own % 60)} s`,
    ]),
  )
}
console.log('\nBy family, mean over the seeds:\n')
console.log(row(['family', 'demonstrations', ...names]))
console.log(row(Array(2 + names.length).fill('---')))
for (const family of Object.keys(stage(first, 'rl').families)) {
  const mean = (name) => {
    const found = runs.map((run) => stage(run, name)?.families[family]).filter((value) => value !== undefined)
    return found.length === 0 ? '–' : percent(found.reduce((sum, value) => sum + value, 0) / found.length)
  }
  console.log(row([family, first.demonstrations[family] ?? 0, ...names.map(mean)]))
}
