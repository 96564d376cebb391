import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { spawn } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** All files in a folder and its subfolders. */
export function filesBeneath(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort()
}

/** Damages a file in several ways, as disks and people do, one at a time, and restores it afterwards. */
export async function forEachDamage(
  path: string,
  look: (damage: 'flipped' | 'cut' | 'emptied' | 'deleted', at?: number) => unknown,
): Promise<void> {
  const whole = readFileSync(path)
  try {
    for (const part of [0, 0.1, 0.35, 0.6, 0.85, 1]) {
      const start = Math.floor(Math.max(0, whole.length - 8) * part)
      const bytes = Uint8Array.from(whole)
      for (let i = start; i < Math.min(start + 8, bytes.length); i++) bytes[i] ^= 0x11
      writeFileSync(path, bytes)
      await look('flipped', start)
    }
    writeFileSync(path, whole.subarray(0, Math.floor(whole.length / 2)))
    await look('cut')
    writeFileSync(path, '')
    await look('emptied')
    rmSync(path)
    await look('deleted')
  } finally {
    writeFileSync(path, whole)
  }
}

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
