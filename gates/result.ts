import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClassicSummary } from 'agoge'
import { average, stratifiedInterquartileMean } from 'agoge/statistics'
import { isFailure } from './gate.ts'
import type { Gate, GateLine, Interval } from './gate.ts'
import { notInferior } from './non-inferiority.ts'
import { peerSeeds } from './peer-result.ts'
import { settingsOf } from './seed-run.ts'
import type { SeedResult } from './seed-run.ts'

/** `results/NAME.json`. */
export interface GateResult {
  schema: 1
  line: GateLine
  direction: Gate['direction']
  source: string
  command: string
  date: string
  machine: ClassicSummary['machine'] | null
  settings: Record<string, unknown>
  /** By seed. */
  seeds: SeedResult[]
}

/** Whether the whole interval is on the right side of the bar. */
export const clearsBar = (
  { bar, direction }: Pick<Gate, 'bar' | 'direction'>,
  { low, high }: Omit<Interval, 'iqm'>,
): boolean => (direction === 'at-least' ? low >= bar : high <= bar)

/**
 * A gate passes if the whole interval is on the right side of the bar: its lower end reaches a score to be reached, its
 * upper end stays below a score not to be exceeded. Otherwise a score to be reached passes if it is not inferior to the
 * peer, the reference trained here with the same settings (`notInferior`).
 *
 * @param peer the peer's seeds; null if there are too few.
 */
export function gateLine(
  gate: Gate,
  seeds: readonly SeedResult[],
  peer: readonly SeedResult[] | null = null,
): GateLine {
  const { name, bar, direction } = gate
  const returns = seeds.map((seed) => seed.return)
  const seconds = seeds.reduce((sum, seed) => sum + seed.seconds, 0)
  const counts = { bar, seeds: seeds.length, seconds }
  if (seeds.length === 0)
    return { name, iqm: null, low: null, high: null, mean: null, failures: 0, passed: false, ...counts }
  const { mean: iqm, low, high } = stratifiedInterquartileMean([returns])
  const isGoodAsPeer = (): boolean =>
    direction === 'at-least' &&
    peer !== null &&
    notInferior(
      gate,
      returns,
      peer.map((seed) => seed.return),
    )
  return {
    name,
    iqm,
    low,
    high,
    mean: average(returns),
    failures: returns.filter((found) => isFailure(gate, found)).length,
    passed: low !== null && (clearsBar(gate, { low, high }) || isGoodAsPeer()),
    ...counts,
  }
}

/** The stored result of a gate. It has no seeds if there is no result with the same settings. */
export function loadResult(folder: string, gate: Gate): GateResult {
  const settings = settingsOf(gate)
  const file = fileOf(folder, gate)
  const { direction, source } = gate
  const empty = { schema: 1, direction, source, command: '', date: '', machine: null, seeds: [] } as const
  const fresh: GateResult = { ...empty, line: gateLine(gate, []), settings, seeds: [] }
  if (!existsSync(file)) return fresh
  const stored = JSON.parse(readFileSync(file, 'utf8')) as GateResult
  if (JSON.stringify(stored.settings) !== JSON.stringify(settings)) return fresh
  // The bar or the peer's result may have changed since.
  return {
    ...stored,
    direction,
    source,
    line: gateLine(gate, stored.seeds, peerSeeds(folder, gate)),
  }
}

/** Writes the line of a stored result anew, whose bar, rule or peer may have changed. */
export function renewResult(folder: string, gate: Gate): void {
  const result = loadResult(folder, gate)
  if (result.seeds.length > 0) writeResult(folder, gate, result)
}

/** Adds the result of a seed. The write is atomic. */
export function storeSeed(
  folder: string,
  gate: Gate,
  { result, machine, command }: { result: SeedResult; machine: GateResult['machine']; command: string },
): void {
  const before = loadResult(folder, gate)
  const seeds = [...before.seeds.filter(({ seed }) => seed !== result.seed), result].sort(
    (a, b) => a.seed - b.seed,
  )
  const { schema, direction, source, settings } = before
  const now: GateResult = {
    schema,
    line: gateLine(gate, seeds, peerSeeds(folder, gate)),
    direction,
    source,
    command,
    date: new Date().toISOString().slice(0, 10),
    machine,
    settings,
    seeds,
  }
  writeResult(folder, gate, now)
}

function writeResult(folder: string, gate: Gate, result: GateResult): void {
  mkdirSync(folder, { recursive: true })
  const file = fileOf(folder, gate)
  writeFileSync(`${file}.tmp`, `${JSON.stringify(result, null, 2)}\n`)
  renameSync(`${file}.tmp`, file)
}

const fileOf = (folder: string, { name }: Gate): string => join(folder, `${name}.json`)
