import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ClassicSummary } from 'agoge'
import { stratifiedInterquartileMean } from 'agoge/statistics'
import type { Gate, GateLine, Interval } from './gate.ts'
import { loadPeer } from './peer-result.ts'
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

/** Whether the interval reaches the bar: its upper end for a minimum, the whole interval for a maximum. */
export const reachesBar = ({ bar, direction }: Pick<Gate, 'bar' | 'direction'>, high: number): boolean =>
  direction === 'at-least' ? high >= bar : high <= bar

/** Whether two intervals overlap. */
export const overlap = (a: Omit<Interval, 'iqm'>, b: Omit<Interval, 'iqm'>): boolean =>
  a.low <= b.high && b.low <= a.high

/**
 * A gate passes if its interval reaches the bar. For a minimum score, the upper end must reach it. For a maximum score, the
 * whole interval must stay below it, so that a few successful seeds are not hidden by the others. Otherwise the gate passes if
 * its interval overlaps that of the peer, the reference trained here with the same settings.
 */
export function gateLine(gate: Gate, seeds: readonly SeedResult[], peer: Interval | null = null): GateLine {
  const { name, bar } = gate
  if (seeds.length === 0)
    return { name, iqm: null, low: null, high: null, bar, passed: false, seeds: 0, seconds: 0 }
  const { mean, low, high } = stratifiedInterquartileMean([seeds.map((seed) => seed.return)])
  const passed = low !== null && (reachesBar(gate, high) || (peer !== null && overlap({ low, high }, peer)))
  const seconds = seeds.reduce((sum, seed) => sum + seed.seconds, 0)
  return { name, iqm: mean, low, high, bar, passed, seeds: seeds.length, seconds }
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
    line: gateLine(gate, stored.seeds, loadPeer(folder, gate)?.interval),
  }
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
    line: gateLine(gate, seeds, loadPeer(folder, gate)?.interval),
    direction,
    source,
    command,
    date: new Date().toISOString().slice(0, 10),
    machine,
    settings,
    seeds,
  }
  mkdirSync(folder, { recursive: true })
  const file = fileOf(folder, gate)
  writeFileSync(`${file}.tmp`, `${JSON.stringify(now, null, 2)}\n`)
  renameSync(`${file}.tmp`, file)
}

const fileOf = (folder: string, { name }: Gate): string => join(folder, `${name}.json`)
