import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { AgogeError } from '../error.ts'
import { readForeignFile } from '../untrusted/foreign-file.ts'
import { fileErrorCode, withFileErrors } from './files.ts'
import type { RunFolder } from './run-folder.ts'

/** Identifies this machine or container: elsewhere, process ids refer to other processes. */
export const host = hostname().replaceAll(/[^\w.]/g, '_') || 'host'

/**
 * Creates a folder `PREFIX-HOST-PID-XXXXXX` in `parent` for this process. First removes folders with the same prefix whose
 * process no longer exists on this machine (after a `kill -9` nothing is tidied up).
 *
 * @returns its real path.
 * @throws the error of the file system if the folder cannot be created.
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

/** Whether a process of this machine or container exists, whoever owns it. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

const name = 'running.json'

/**
 * Locks a run folder against other processes of this machine, until the returned function is called or this process ends. Two
 * processes in one run would truncate each other's files and remove each other's checkpoints.
 *
 * @throws AgogeError naming the process that holds the lock.
 */
export function lockRun(folder: RunFolder): () => void {
  const file = folder.file(name)
  const own = `${JSON.stringify({ pid: process.pid, host })}\n`
  withFileErrors(file, () => {
    try {
      // Fails if the file exists, so that only one of two simultaneous processes gets the lock.
      writeFileSync(file, own, { flag: 'wx' })
    } catch (error) {
      if (fileErrorCode(error) !== 'EEXIST') throw error
      readForeignFile(file, (text) => refuseOther(folder, text))
      writeFileSync(file, own)
    }
  })
  return () => rmSync(file, { force: true })
}

/** A killed process leaves its lock file behind. A lock file of another machine says nothing about this one. */
function refuseOther(folder: RunFolder, text: string): void {
  const [, pid, where] = /^\{"pid":(\d+),"host":"([^"]*)"\}/.exec(text) ?? []
  if (pid === undefined || where !== host || Number(pid) === process.pid || !isAlive(Number(pid))) return
  throw new AgogeError(`Another process is writing to the run in ${folder.path}`, {
    code: 'run-in-use',
    given: `process ${pid}`,
    expected: 'a run that no process works on',
    hint: `Wait until it has ended, or end it (kill ${pid}); if that process is something else, remove ${folder.file(name)}`,
  })
}
