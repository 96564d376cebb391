import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openRunFolder } from '../../run-folder.ts'
import { readRun } from '../run-record.ts'

/** Runs a process on the folder and kills it some milliseconds after it printed so many lines. `null`: killed. */
export function workUntil(
  program: 'child' | 'several-child',
  folder: string,
  lines: number,
  delay: number,
): Promise<number | null> {
  const script = fileURLToPath(new URL(`./${program}.ts`, import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', '--conditions', 'agoge-source', script, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let seen = 0
  child.stdout.on('data', (data: Buffer) => {
    const before = seen
    seen += data.toString().split('\n').length - 1
    if (before < lines && seen >= lines) void wait(delay).then(() => child.kill('SIGKILL'))
  })
  return new Promise((resolve) => child.on('close', resolve))
}

const clocks = /"(\w*[sS]econds?|stepsPerSecond)":[\d.e+-]+,?/g

/** The figures of a run without those of the clock. */
export const metrics = (folder: string): string =>
  readFileSync(join(folder, 'metrics.jsonl'), 'utf8').replaceAll(clocks, '')

/** Everything in the last checkpoint but the clock. */
export function learned(folder: string): unknown {
  const { state } = readRun(openRunFolder({ path: folder }))
  return { ...(state as object), seconds: 0, evaluationSeconds: 0 }
}
