// npm run gates -- NAME... [--json] [--seeds 1-10] [--peers] [--broken] [--table] [--out FOLDER] [--steps N]: trains seeds without
// a stored result, prints and stores the results. Default: all gates, with the seeds of each. --peers trains the references
// instead, with the Python of AGOGE_PEERS_PYTHON. --broken trains five seeds of a learner that is broken on purpose, and fails
// if a gate passes. --table only judges the stored results again and rewrites the tables. --steps is for tests of the gates
// themselves and needs --out.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { brokenGate, brokenSeeds, renderBroken } from './broken.ts'
import type { Gate, GateLine } from './gate.ts'
import { gates } from './gates.ts'
import { renewResult } from './result.ts'
import { runGates } from './run-gates.ts'
import { runPeers } from './run-peers.ts'
import type { SeedResult } from './seed-run.ts'
import { renderTable } from './table.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    seeds: { type: 'string' },
    broken: { type: 'boolean', default: false },
    peers: { type: 'boolean', default: false },
    table: { type: 'boolean', default: false },
    out: { type: 'string' },
    steps: { type: 'string' },
  },
})

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}

/** `1-10`, `3`, or `1,2,5`. */
function parseSeeds(text: string): number[] {
  const range = /^(\d+)-(\d+)$/.exec(text)?.slice(1).map(Number)
  const seeds = range
    ? Array.from({ length: range[1] - range[0] + 1 }, (_, i) => range[0] + i)
    : text.split(',').map(Number)
  if (seeds.length === 0 || !seeds.every((seed) => Number.isSafeInteger(seed) && seed >= 0))
    fail(`--seeds takes 1-10, 3 or 1,2,5, not ${text}`)
  return [...new Set(seeds)]
}

const unknown = positionals.filter((name) => !gates.some((gate) => gate.name === name))
if (unknown.length > 0)
  fail(`no gate ${unknown.join(', ')}; there are ${gates.map(({ name }) => name).join(', ')}`)
if (values.steps !== undefined && values.out === undefined) fail('--steps needs --out FOLDER')
const steps = values.steps === undefined ? undefined : Number(values.steps)
const all = steps === undefined ? gates : gates.map((gate) => ({ ...gate, steps }))
// In the given order, so that cheap gates can run first.
const chosen =
  positionals.length === 0
    ? all
    : [...new Set(positionals)].flatMap((wanted) => all.filter(({ name }) => name === wanted))
const folder = values.out ?? fileURLToPath(new URL('./results', import.meta.url))
const brokenFolder = join(folder, 'broken')

function print(line: GateLine): void {
  const notYet = chosen.find(({ name }) => name === line.name)?.notYet
  if (values.json) console.log(JSON.stringify({ ...line, notYet }))
  else if (line.iqm === null) console.log(`${line.name}: not possible yet: ${notYet}`)
  else if (line.low === null)
    console.log(
      `${line.name}: not judged, interquartile mean ${line.iqm.toFixed(2)}, no interval: ${line.seeds} seeds, fewer than 5; bar ${line.bar}`,
    )
  else
    console.log(
      `${line.name}: ${line.passed ? 'passed' : 'failed'}, interquartile mean ${line.iqm.toFixed(2)} (${line.low.toFixed(2)} to ${line.high?.toFixed(2)}), mean ${line.mean?.toFixed(2)}, ${line.failures} of ${line.seeds} seeds failed, bar ${line.bar}, ${line.seconds.toFixed(0)} s`,
    )
}

function write(): void {
  mkdirSync(brokenFolder, { recursive: true })
  writeFileSync(join(folder, 'README.md'), renderTable(folder, all))
  writeFileSync(join(brokenFolder, 'README.md'), renderBroken(brokenFolder, all))
}

const printSeed = ({ name }: Gate, result: SeedResult): void =>
  console.error(`${name}, seed ${result.seed}: ${result.return.toFixed(2)} in ${result.seconds.toFixed(1)} s`)

if (values.table) {
  for (const gate of all) renewResult(folder, gate)
  write()
  process.exit(0)
}
const seeds = values.seeds === undefined ? undefined : parseSeeds(values.seeds)
const command = `npm run gates -- ${process.argv.slice(2).join(' ')}`.trim()
if (values.peers) {
  await runPeers(chosen, {
    seeds,
    folder,
    command,
    onSeed: (gate, result) => printSeed({ ...gate, name: `peer of ${gate.name}` }, result),
  })
  write()
  process.exit(0)
}
const lines = await runGates(values.broken ? chosen.map(brokenGate) : chosen, {
  seeds: values.broken ? (seeds ?? brokenSeeds) : seeds,
  folder: values.broken ? brokenFolder : folder,
  command,
  onSeed(gate, result) {
    write()
    printSeed(gate, result)
  },
  onGate: print,
})
write()
process.exitCode = lines.some(({ passed, iqm }) => iqm !== null && passed === values.broken) ? 1 : 0
