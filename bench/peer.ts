import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A peer's process, kept alive between measurements: send it a count, it answers with seconds. */
export interface Peer {
  seconds(count: number): Promise<number>
  close(): void
}

/** Starts `bench/peers/NAME.py` on the Python of `AGOGE_PEERS_PYTHON`; null where that is not set. */
export function startPeer(name: string, threads: number): Peer | null {
  const python = process.env['AGOGE_PEERS_PYTHON']
  if (!python) return null
  const script = fileURLToPath(new URL(`./peers/${name}.py`, import.meta.url))
  const child = spawn(python, [script, String(threads)], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  return {
    async seconds(count) {
      const answer = once(lines, 'line')
      child.stdin.write(`${count}\n`)
      const [line] = (await Promise.race([
        answer,
        once(child, 'exit').then(() => Promise.reject(new Error(`the peer ${name} stopped`))),
      ])) as [string]
      return Number(line)
    },
    close: () => void child.kill(),
  }
}

/** Starts the peer at 1 and 2 threads, keeps the quicker one. */
export async function betterPeer(name: string, warmup: number): Promise<Peer | null> {
  let best: { peer: Peer; seconds: number } | null = null
  for (const threads of [1, 2]) {
    const peer = startPeer(name, threads)
    if (peer === null) return null
    await peer.seconds(1)
    const seconds = await peer.seconds(warmup)
    if (best === null || seconds < best.seconds) {
      best?.peer.close()
      best = { peer, seconds }
    } else peer.close()
  }
  return best?.peer ?? null
}
