import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'

/** Of this machine or container alone: elsewhere process ids mean other processes. */
export const host = hostname().replaceAll(/[^\w.]/g, '_') || 'host'

/**
 * A new folder `PREFIX-HOST-PID-XXXXXX` in `parent` for the time that this process lives. What processes of this machine that are no more
 * (a `kill -9` lets nobody tidy up) have left there under the same prefix is removed first.
 *
 * @returns its real path.
 * @throws the error of the file system where the folder cannot be made.
 */
export function makeLockedFolder(parent: string, prefix: string): string {
  sweep(parent, `${prefix}-${host}-`)
  return realpathSync(mkdtempSync(join(parent, `${prefix}-${host}-${process.pid}-`)))
}

function sweep(parent: string, start: string): void {
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(start) ? /^(\d+)-\w{6}$/.exec(name.slice(start.length))?.[1] : undefined
    if (pid === undefined || isAlive(Number(pid))) continue
    try {
      rmSync(join(parent, name), { recursive: true, force: true, maxRetries: 3 })
    } catch {
      // Somebody else's, or being removed at this moment: it is in nobody's way.
    }
  }
}

/** Whether a process of this machine or container is there, whoever owns it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
