import { trainSeeds } from 'agoge'
import type { ClassicSummary } from 'agoge'
import { seedsOfGate } from './gate.ts'
import type { Gate, GateLine } from './gate.ts'
import { peerSeeds } from './peer-result.ts'
import { gateLine, loadResult, storeSeed } from './result.ts'
import { runOf, seedResult } from './seed-run.ts'
import type { SeedResult } from './seed-run.ts'

export interface RunGatesOptions {
  /** Default: those of each gate, from 1 on. */
  seeds?: readonly number[] | undefined
  /** Folder of the results. */
  folder: string
  /** The command line, for the record. */
  command: string
  /** Called when a seed's result is stored. */
  onSeed?: (gate: Gate, result: SeedResult) => void
  /** Called when all seeds of a gate are done. */
  onGate?: (line: GateLine) => void
}

/**
 * Trains the seeds of the gates without a stored result, gate by gate, the seeds of a gate on all cores. Stops at the
 * first failing seed. Stored results stay.
 */
export async function runGates(gates: readonly Gate[], options: RunGatesOptions): Promise<GateLine[]> {
  const { folder, command, onSeed, onGate } = options
  const seedsFor = (gate: Gate): readonly number[] => options.seeds ?? seedsOfGate(gate)
  const missing = (gate: Gate): number[] => {
    const stored = new Set(loadResult(folder, gate).seeds.map(({ seed }) => seed))
    return gate.notYet === undefined ? seedsFor(gate).filter((seed) => !stored.has(seed)) : []
  }
  const lineOf = (gate: Gate): GateLine =>
    gateLine(
      gate,
      loadResult(folder, gate).seeds.filter(({ seed }) => seedsFor(gate).includes(seed)),
      peerSeeds(folder, gate),
    )
  const lines: GateLine[] = []
  for (const gate of gates) {
    const left = missing(gate)
    const onResult = (summary: ClassicSummary): void => {
      const result = seedResult(summary)
      storeSeed(folder, gate, { result, machine: summary.machine, command })
      onSeed?.(gate, result)
    }
    if (left.length > 0) await trainSeeds({ ...runOf(gate), seeds: left, onSeed: onResult })
    lines.push(lineOf(gate))
    onGate?.(lines[lines.length - 1])
  }
  return lines
}
