// npm run attack                       every part; ends with 1 if an attack did not hold
// npm run attack -- PART... [--quick]  some parts; --quick does a share of each, five minutes in all
//   --seed N      which random inputs, moments and places are drawn (default 0)
//   --slack X     with --quick, allows sections X times as long (default 1), for a machine that is slow or busy with other work
//   --resume      goes on with what is stored of the same seed, after a stop
//   --out FOLDER  where results are stored (default attacks/results; with --quick nothing is stored by default)
//   --table       only rewrites the table of docs/results/attacks.md from the stored results
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type AttackPart, type AttackResult, type PartResult, slackVariable } from './attack.ts'
import { damage } from './damage/damage.ts'
import { fuzz } from './fuzz/fuzz.ts'
import { kills } from './kills/kills.ts'
import { limits } from './limits/limits.ts'
import { soak } from './requests/soak.ts'
import { requests } from './requests/requests.ts'
import { schemas } from './schemas/schemas.ts'
import { servers } from './servers/servers.ts'
import { writeTable } from './table.ts'

/** In the order in which they run. */
const parts: readonly AttackPart[] = [schemas, fuzz, servers, requests, soak, kills, limits, damage]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    resume: { type: 'boolean', default: false },
    table: { type: 'boolean', default: false },
    seed: { type: 'string', default: '0' },
    slack: { type: 'string', default: '1' },
    out: { type: 'string' },
  },
})
const seed = Number(values.seed)
const unknown = positionals.filter((name) => !parts.some((part) => part.name === name))
const slack = Number(values.slack)
if (
  unknown.length > 0 ||
  !Number.isSafeInteger(seed) ||
  seed < 0 ||
  !(slack >= 1 && slack <= 100) ||
  (slack > 1 && !values.quick)
) {
  const known = parts.map(({ name }) => name).join(', ')
  console.error(
    unknown.length > 0
      ? `no part ${unknown.join(', ')}; there are ${known}`
      : '--seed: a whole number from 0; --slack: a number from 1 to 100, with --quick',
  )
  process.exit(1)
}

process.env[slackVariable] = String(slack)
const usual = fileURLToPath(new URL('results', import.meta.url))
const results = values.out ?? (values.quick ? undefined : usual)
const chosen = positionals.length === 0 ? parts : parts.filter(({ name }) => positionals.includes(name))
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

let failed = 0
if (!values.table)
  for (const part of chosen) {
    if (stop.signal.aborted) break
    failed += await runPart(part)
  }
if (results === usual) writeTable(usual)
if (stop.signal.aborted) console.error('stopped; to go on: the same command with --resume')
process.exitCode = stop.signal.aborted ? 130 : failed > 0 ? 1 : 0

/** Runs a part, prints each attack, stores all of them. Returns how many did not hold. */
async function runPart(part: AttackPart): Promise<number> {
  console.log(`\n${part.name}: ${part.about}`)
  const file = results === undefined ? undefined : join(results, `${part.name}.json`)
  const stored = file === undefined || !values.resume || !existsSync(file) ? undefined : readPart(file)
  const attacks: AttackResult[] = stored?.seed === seed ? [...stored.attacks] : []
  const store = (totals: Readonly<Record<string, number>>): void => {
    if (file === undefined || results === undefined) return
    mkdirSync(results, { recursive: true })
    const result: PartResult = { part: part.name, seed, totals, attacks }
    writeFileSync(file, `${JSON.stringify(result, null, 1)}\n`)
  }
  const folder = mkdtempSync(join(tmpdir(), 'agoge-attack-'))
  try {
    const totals = await part.run({
      seed,
      quick: values.quick,
      folder,
      done: [...attacks],
      report(found) {
        // Where the temporary folder was says nothing.
        const result = { ...found, happened: found.happened.replaceAll(folder, '') }
        attacks.push(result)
        console.log(lineOf(result))
        store({})
      },
      signal: stop.signal,
    })
    store(totals)
    for (const [name, value] of Object.entries(totals))
      console.log(`  ${name}: ${value.toLocaleString('en')}`)
  } catch (error) {
    if (!stop.signal.aborted) throw error
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return attacks.filter(({ held }) => !held).length
}

function readPart(file: string): PartResult {
  return JSON.parse(readFileSync(file, 'utf8')) as PartResult
}

function lineOf({ name, held, happened, longestSection }: AttackResult): string {
  const section = longestSection === undefined ? '' : ` [${longestSection.toFixed(0)} ms]`
  return `  ${held ? 'held  ' : 'FAILED'} ${name}: ${happened}${section}`
}
