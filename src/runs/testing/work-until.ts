import { spawn } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** Runs a script on the folder, and kills it some milliseconds after it has printed this many lines. `null`: it was killed. */
export function workUntil(script: URL, folder: string, lines: number, delay: number): Promise<number | null> {
  const flags = ['--import', 'tsx', '--conditions', 'agoge-source']
  const child = spawn(process.execPath, [...flags, fileURLToPath(script), folder], {
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
