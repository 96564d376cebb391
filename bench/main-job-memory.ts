import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Measurement } from './alternate.ts'

/** Ids of a process and all its descendants, from /proc (Linux). */
function descendants(root: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
    } catch {
      // gone meanwhile
    }
  }
  const found = [root]
  for (const id of found) for (const [child, parent] of parents) if (parent === id) found.push(child)
  return found
}

/** Proportional set size in bytes, which counts pages shared between processes once. */
function proportionalBytes(id: number): number {
  try {
    return Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, 'utf8'))?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}

/** Peak memory of the default job in megabytes, including server processes, sampled every 250 ms. No peer. */
export async function mainJobMemory(): Promise<Measurement> {
  const out = mkdtempSync(join(tmpdir(), 'agoge-memory-'))
  const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
  const child = spawn(process.execPath, [main, 'train', '--out', out], { stdio: 'ignore' })
  let peak = 0
  const timer = setInterval(() => {
    const total = descendants(child.pid ?? 0).reduce((sum, id) => sum + proportionalBytes(id), 0)
    peak = Math.max(peak, total)
  }, 250)
  const code = await new Promise((resolve) => child.on('exit', resolve))
  clearInterval(timer)
  rmSync(out, { recursive: true, force: true })
  if (code !== 0) throw new Error(`agoge train ended with exit code ${String(code)}`)
  return { name: 'main-job-memory', ours: peak / 1e6, peer: null, ratio: null, unit: 'MB' }
}
