// Pauses of the machine itself. Linux counts as processor time of a thread what a host takes from a virtual machine without telling it,
// so that a section without a pause looks longer than it was. A sleeper on each processor tells how much of it was none of ours.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Section } from './run-cli.ts'

const sleeper = fileURLToPath(new URL('sleeper.mjs', import.meta.url))

/** A pause of the processor on which the watched thread was. */
export interface Stall {
  /** When it ended (`clock.mjs`). */
  ended: number
  milliseconds: number
  /** What of it was counted as processor time of the thread, in milliseconds. */
  counted: number
}

/**
 * Watches each processor until a process ends, at some 12% of its time. Needs Linux, and root for a priority above all else (`chrt`,
 * `taskset`): elsewhere it finds nothing, and sections are counted whole.
 *
 * @param folder An existing one, for what the sleepers write.
 * @returns What gives the pauses of more than a quarter of a millisecond that were found so far.
 */
export function watchStalls(pid: number, folder: string): () => Stall[] {
  if (process.platform !== 'linux') return () => []
  const files = Array.from({ length: availableParallelism() }, (_, i) =>
    join(folder, `stalls-${pid}-${i}.log`),
  )
  for (const [i, file] of files.entries()) {
    const command = ['chrt', '--fifo', '50', process.execPath, sleeper, file, String(i), String(pid)]
    spawn('taskset', ['--cpu-list', String(i), ...command], { stdio: 'ignore' }).on('error', () => {})
  }
  return () => files.flatMap(readStalls)
}

function readStalls(file: string): Stall[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => {
    const [ended, milliseconds, counted] = line.split(' ').map(Number)
    return { ended, milliseconds, counted }
  })
}

/**
 * Sections without what was counted of pauses in them.
 *
 * @example withoutStalls([{ begun: 0, ended: 90, milliseconds: 85 }], [{ ended: 70, milliseconds: 60, counted: 58 }]) // 27 ms are left
 */
export function withoutStalls(sections: readonly Section[], stalls: readonly Stall[]): Section[] {
  return sections.map((section) => {
    const { begun, ended, milliseconds } = section
    const stolen = stalls.reduce((sum, stall) => {
      const overlap = Math.min(ended, stall.ended) - Math.max(begun, stall.ended - stall.milliseconds)
      return sum + Math.max(0, Math.min(overlap, stall.counted))
    }, 0)
    return { ...section, milliseconds: Math.max(0, milliseconds - stolen) }
  })
}
