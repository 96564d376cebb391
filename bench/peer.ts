import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** The result of one measurement. */
export interface Measured {
  seconds: number
  score?: number
}

/** A peer's process, which stays alive between measurements. Receives a count; returns seconds, and a score if it has one. */
export interface Peer {
  /** `seed`: for peers that take one. Default: the number of earlier measurements. */
  measure(count: number, seed?: number): Promise<Measured>
  close(): void
}

/** Starts `bench/peers/NAME.py THREADS ARGUMENTS` with the Python of `AGOGE_PEERS_PYTHON`. Null if that is not set. */
export function startPeer(name: string, threads: number, more: readonly string[] = []): Peer | null {
  const python = process.env['AGOGE_PEERS_PYTHON']
  if (!python) return null
  const script = fileURLToPath(new URL(`./peers/${name}.py`, import.meta.url))
  const child = spawn(python, ['-B', script, String(threads), ...more], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })
  return {
    async measure(count, seed) {
      const answer = once(lines, 'line')
      child.stdin.write(`${count}${seed === undefined ? '' : ` ${seed}`}\n`)
      const [line] = (await Promise.race([
        answer,
        once(child, 'exit').then(() => Promise.reject(new Error(`the peer ${name} stopped`))),
      ])) as [string]
      const [seconds, score] = line.split(' ').map(Number)
      return score === undefined ? { seconds } : { seconds, score }
    },
    close: () => void child.kill(),
  }
}

/** Starts the peer with 1 and 2 threads. Keeps the one with the faster best of three. */
export async function betterPeer(
  name: string,
  warmup: number,
  more: readonly string[] = [],
): Promise<Peer | null> {
  let best: { peer: Peer; seconds: number } | null = null
  for (const threads of [1, 2]) {
    const peer = startPeer(name, threads, more)
    if (peer === null) return null
    await peer.measure(1)
    let seconds = Infinity
    for (let i = 0; i < 3; i++) seconds = Math.min(seconds, (await peer.measure(warmup)).seconds)
    if (best === null || seconds < best.seconds) {
      best?.peer.close()
      best = { peer, seconds }
    } else peer.close()
  }
  return best?.peer ?? null
}
