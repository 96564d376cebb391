import { fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Gate, GateLine } from './gate.ts'
import { loadPeer } from './peer-result.ts'
import { gateLine, loadResult, storeSeed } from './result.ts'
import type { SeedAnswer, SeedJob, SeedResult } from './seed-run.ts'

export interface RunGatesOptions {
  seeds: readonly number[]
  /** Folder of the results. */
  folder: string
  /** The command line, for the record. */
  command: string
  /** Arguments of Node before the child's script. Default: those of this process. */
  execArgv?: readonly string[]
  /** Called when a seed's result is stored. */
  onSeed?: (gate: Gate, result: SeedResult) => void
  /** Called when all seeds of a gate are done. */
  onGate?: (line: GateLine) => void
}

/**
 * Trains the seeds of the gates without a stored result, gate by gate. Each seed has its own process with one thread; as many
 * run at once as there are cores. Stops at the first failing seed. Stored results stay.
 */
export async function runGates(gates: readonly Gate[], options: RunGatesOptions): Promise<GateLine[]> {
  const { seeds, folder, command, onSeed, onGate } = options
  const stop = new AbortController()
  const missing = (gate: Gate): number[] => {
    const stored = new Set(loadResult(folder, gate).seeds.map(({ seed }) => seed))
    return gate.notYet === undefined ? seeds.filter((seed) => !stored.has(seed)) : []
  }
  const lineOf = (gate: Gate): GateLine =>
    gateLine(
      gate,
      loadResult(folder, gate).seeds.filter(({ seed }) => seeds.includes(seed)),
      loadPeer(folder, gate)?.interval,
    )
  const jobs = gates.flatMap((gate) => missing(gate).map((seed): SeedJob => ({ gate, seed })))
  const shown = new Set<string>()
  const tell = (): void => {
    for (const gate of gates) {
      if (shown.has(gate.name) || missing(gate).length > 0) continue
      shown.add(gate.name)
      onGate?.(lineOf(gate))
    }
  }
  tell()
  let next = 0
  async function worker(): Promise<void> {
    while (next < jobs.length && !stop.signal.aborted) {
      const job = jobs[next++]
      const { result, machine } = await inProcess(job, options.execArgv ?? process.execArgv, stop.signal)
      storeSeed(folder, job.gate, { result, machine, command })
      onSeed?.(job.gate, result)
      tell()
    }
  }
  const workers = Math.min(availableParallelism(), jobs.length)
  try {
    await Promise.all(Array.from({ length: workers }, worker))
  } catch (error) {
    stop.abort(error)
    throw error
  }
  return gates.map(lineOf)
}

type Done = Exclude<SeedAnswer, { error: string }>

function inProcess(job: SeedJob, execArgv: readonly string[], signal: AbortSignal): Promise<Done> {
  return new Promise((resolve, reject) => {
    const script = fileURLToPath(new URL('./seed-process.ts', import.meta.url))
    // JSON would turn a setting of Infinity into null.
    const child = fork(script, { execArgv: [...execArgv], signal, serialization: 'advanced' })
    const what = `${job.gate.name}, seed ${job.seed}`
    child.once('message', (answer: SeedAnswer) => {
      if ('error' in answer) reject(new Error(`${what}: ${answer.error}`))
      else resolve(answer)
    })
    child.on('error', reject)
    child.on('exit', (code, killed) =>
      reject(new Error(`the process of ${what} ended without a result: ${killed ?? `exit code ${code}`}`)),
    )
    child.send(job)
  })
}
