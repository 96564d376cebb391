import { execFileSync } from 'node:child_process'
import { availableParallelism, cpus } from 'node:os'
import { startPeer } from '../bench/peer.ts'
import { seedsOfGate } from './gate.ts'
import type { Gate } from './gate.ts'
import { loadPeer, storePeerSeed } from './peer-result.ts'
import type { SeedResult } from './seed-run.ts'

export interface RunPeersOptions {
  /** Default: those of each gate, from 1 on. */
  seeds?: readonly number[] | undefined
  /** Folder of the results. */
  folder: string
  /** The command line, for the record. */
  command: string
  onSeed?: (gate: Gate, result: SeedResult) => void
}

/**
 * Trains the peers of the gates for seeds without a stored result, gate by gate, with the Python of `AGOGE_PEERS_PYTHON`. Each
 * seed has its own process with one thread; as many run at once as there are cores.
 *
 * @throws Error if that variable is not set, or a peer exits early.
 */
export async function runPeers(gates: readonly Gate[], options: RunPeersOptions): Promise<void> {
  const { seeds, folder, command, onSeed } = options
  const python = process.env['AGOGE_PEERS_PYTHON']
  if (!python) throw new Error('AGOGE_PEERS_PYTHON has to name a Python that has torch and gymnasium')
  const machine = {
    cpu: cpus()[0]?.model ?? '',
    cores: availableParallelism(),
    versions: execFileSync(python, ['-c', versionsOf], { encoding: 'utf8' }).trim(),
  }
  const jobs = gates.flatMap((gate) => {
    const stored = new Set(loadPeer(folder, gate)?.seeds.map(({ seed }) => seed))
    return gate.peer === undefined
      ? []
      : (seeds ?? seedsOfGate(gate)).filter((seed) => !stored.has(seed)).map((seed) => ({ gate, seed }))
  })
  let next = 0
  async function worker(): Promise<void> {
    while (next < jobs.length) {
      const { gate, seed } = jobs[next++]
      const [script, ...more] = gate.peer ?? ['']
      const peer = startPeer(script, 1, more)
      if (peer === null) return
      const { seconds, score } = await peer.measure(gate.steps, seed)
      peer.close()
      if (score === undefined) throw new Error(`the peer ${script} gave no score`)
      const result = { seed, return: score, seconds }
      storePeerSeed(folder, gate, { result, machine, command })
      onSeed?.(gate, result)
    }
  }
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), jobs.length) }, worker))
}

const versionsOf =
  "import sys, torch, gymnasium; print(f'Python {sys.version.split()[0]}, PyTorch {torch.__version__}, Gymnasium {gymnasium.__version__}')"
