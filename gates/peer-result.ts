import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stratifiedInterquartileMean } from 'agoge/statistics'
import { fewestSeeds } from './gate.ts'
import type { Gate, Interval } from './gate.ts'
import { settingsOf } from './seed-run.ts'
import type { SeedResult } from './seed-run.ts'

/** `results/peers/NAME.json`. */
export interface PeerResult {
  schema: 1
  name: string
  /** Over all seeds; null if there are fewer than ten. */
  interval: Interval | null
  /** A script of `bench/peers/`, and its arguments. */
  peer: readonly string[]
  command: string
  date: string
  machine: { cpu: string; cores: number; versions: string } | null
  /** Settings of the gate at the time of the run. Results with other settings do not count. */
  settings: Record<string, unknown>
  seeds: SeedResult[]
}

export function peerInterval(seeds: readonly SeedResult[]): Interval | null {
  if (seeds.length < fewestSeeds) return null
  const { mean, low, high } = stratifiedInterquartileMean([seeds.map((seed) => seed.return)])
  return low === null ? null : { iqm: mean, low, high }
}

/** The stored result of a gate's peer. Null if the gate has no peer, or there is no result with the same settings. */
export function loadPeer(folder: string, gate: Gate): PeerResult | null {
  const file = fileOf(folder, gate)
  if (gate.peer === undefined || !existsSync(file)) return null
  const stored = JSON.parse(readFileSync(file, 'utf8')) as PeerResult
  const same =
    JSON.stringify(stored.settings) === JSON.stringify(settingsOf(gate)) &&
    JSON.stringify(stored.peer) === JSON.stringify(gate.peer)
  return same ? { ...stored, interval: peerInterval(stored.seeds) } : null
}

/** The seeds of a gate's peer. Null if there are fewer than ten. */
export function peerSeeds(folder: string, gate: Gate): readonly SeedResult[] | null {
  const peer = loadPeer(folder, gate)
  return peer === null || peer.seeds.length < fewestSeeds ? null : peer.seeds
}

/** Adds the result of a seed. The write is atomic. */
export function storePeerSeed(
  folder: string,
  gate: Gate,
  { result, machine, command }: { result: SeedResult } & Pick<PeerResult, 'machine' | 'command'>,
): void {
  const before = loadPeer(folder, gate)?.seeds ?? []
  const seeds = [...before.filter(({ seed }) => seed !== result.seed), result].sort((a, b) => a.seed - b.seed)
  const now: PeerResult = {
    schema: 1,
    name: gate.name,
    interval: peerInterval(seeds),
    peer: gate.peer ?? [],
    command,
    date: new Date().toISOString().slice(0, 10),
    machine,
    settings: settingsOf(gate),
    seeds,
  }
  mkdirSync(join(folder, 'peers'), { recursive: true })
  const file = fileOf(folder, gate)
  writeFileSync(`${file}.tmp`, `${JSON.stringify(now, null, 2)}\n`)
  renameSync(`${file}.tmp`, file)
}

const fileOf = (folder: string, { name }: Gate): string => join(folder, 'peers', `${name}.json`)
