import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { AgogeError } from '../error.ts'
import { host, isAlive } from './locked-folder.ts'
import { fileErrorCode, withFileErrors } from './file-error.ts'
import type { RunFolder } from './run-folder.ts'

const name = 'running.json'

/**
 * Keeps other processes of this machine out of a run folder, until the returned function is called or this process is no more: two that
 * work on one run cut each other's files and remove each other's checkpoints.
 *
 * @throws AgogeError naming the process that is at work there.
 */
export function lockRun(folder: RunFolder): () => void {
  const file = folder.file(name)
  const own = `${JSON.stringify({ pid: process.pid, host })}\n`
  withFileErrors(file, () => {
    try {
      // Fails where the file is there, so that of two who begin at the same time one is told.
      writeFileSync(file, own, { flag: 'wx' })
    } catch (error) {
      if (fileErrorCode(error) !== 'EEXIST') throw error
      refuseOther(folder, readFileSync(file, 'utf8'))
      writeFileSync(file, own)
    }
  })
  return () => rmSync(file, { force: true })
}

/** A process that was killed leaves its file behind, and that of another machine tells nothing here. */
function refuseOther(folder: RunFolder, text: string): void {
  const [, pid, where] = /^\{"pid":(\d+),"host":"([^"]*)"\}/.exec(text) ?? []
  if (pid === undefined || where !== host || Number(pid) === process.pid || !isAlive(Number(pid))) return
  throw new AgogeError(`Another process is at work on the run in ${folder.path}`, {
    code: 'run-in-use',
    given: `process ${pid}`,
    expected: 'a run that no process works on',
    hint: `Wait until it has ended, or end it (kill ${pid}); if that process is something else, remove ${folder.file(name)}`,
  })
}
