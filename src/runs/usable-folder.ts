import { mkdirSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { AgogeError } from '../error.ts'
import { asFileError, fileErrorCode, withFileErrors } from './file-error.ts'

/**
 * Makes a folder and its missing parents one by one: Node's own recursive mkdir never returns where the file system
 * makes no folders and calls that ENOENT, as /proc does.
 *
 * @returns the folders that did not exist before, the outermost first.
 * @throws AgogeError naming the folder.
 */
export function makeFolder(given: string): string[] {
  const path = resolve(given)
  const missing: string[] = []
  for (let at = path; ; at = dirname(at)) {
    const found = withFileErrors(at, () => statSync(at, { throwIfNoEntry: false }))
    if (found?.isDirectory() === true) break
    if (found !== undefined) throw asFileError(path, fileInTheWay(at === path ? 'EEXIST' : 'ENOTDIR'))
    missing.unshift(at)
  }
  const made: string[] = []
  for (const folder of missing) {
    try {
      mkdirSync(folder)
      made.push(folder)
    } catch (cause) {
      // Somebody else may have made it in the meantime.
      if (fileErrorCode(cause) === 'EEXIST' && isFolder(folder)) continue
      throw fileErrorCode(cause) === 'ENOENT' ? noFoldersHere(folder, cause) : asFileError(folder, cause)
    }
  }
  return made
}

/** Writes a file into the folder and removes it again: permission bits alone tell nothing about mounts, quotas and full disks. */
export function requireWritable(folder: string): void {
  const file = join(folder, `.agoge-file-${process.pid}`)
  withFileErrors(folder, () => {
    try {
      writeFileSync(file, 'x')
    } finally {
      rmSync(file, { force: true })
    }
  })
}

/** Tries whether the folder can be made and written, and leaves everything as it was. */
export function checkFolder(folder: string): void {
  const made = makeFolder(folder)
  try {
    requireWritable(folder)
  } finally {
    for (const path of made.reverse()) rmdirSync(path)
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function fileInTheWay(code: string): Error {
  return Object.assign(new Error('a file is in the way'), { code })
}

function noFoldersHere(folder: string, cause: unknown): AgogeError {
  return new AgogeError(`Cannot make the folder ${folder}: its file system makes none`, {
    code: 'unusable-path',
    given: folder,
    expected: 'a folder on a disk',
    hint: 'Choose another path',
    cause,
  })
}
