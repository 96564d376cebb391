import { lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { AgogeError } from '../error.ts'
import { withFileErrors } from './file-error.ts'
import { checkFolder, makeFolder } from './usable-folder.ts'

/**
 * Writes a file so that it is either whole or as it was before, also after a kill or on a full disk: aside, then renamed into place.
 * Devices, pipes and links (`/dev/stdout`) are written directly. Missing folders are made.
 *
 * @throws AgogeError naming the file.
 */
export function writeWhole(path: string, text: string | Uint8Array): void {
  makeFolder(dirname(path))
  withFileErrors(path, () => {
    if (isSpecial(path)) return writeFileSync(path, text)
    const aside = join(dirname(path), `${basename(path)}.${process.pid}.part`)
    try {
      writeFileSync(aside, text)
      renameSync(aside, path)
    } catch (error) {
      rmSync(aside, { force: true })
      throw error
    }
  })
}

/** Tries whether `writeWhole` could write there, and leaves everything as it was. Throws an AgogeError naming the file or its folder. */
export function checkFile(given: string): void {
  const path = resolve(given)
  const found = withFileErrors(path, () => lstatSync(path, { throwIfNoEntry: false }))
  if (found?.isDirectory() === true)
    throw new AgogeError(`${path} is a folder`, {
      code: 'unusable-path',
      given: path,
      expected: 'a file, new or to be replaced',
      hint: 'Choose another path',
    })
  if (!isSpecial(path)) checkFolder(dirname(path))
}

function isSpecial(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found !== undefined && !found.isFile() && !found.isDirectory()
}
