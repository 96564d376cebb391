import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** One file or folder (`contents` null) below the path of that index; `relative` is '' for the path itself. */
interface SnapshotEntry {
  index: number
  relative: string
  contents: Buffer | null
}

/** Contents of a list of files and folders, free of where they lie: it fits the same list in another place. */
export type FilesSnapshot = readonly SnapshotEntry[]

// Synchronous on purpose: the files are few and small, and a call between two turns waits for each of them.

/** Reads the files, and folders with all that is in them. What does not exist is not in the snapshot. */
export function readFiles(paths: readonly string[]): FilesSnapshot {
  const found: SnapshotEntry[] = []
  const visit = (index: number, relative: string): void => {
    const path = join(paths[index], relative)
    const info = statSync(path, { throwIfNoEntry: false })
    if (info === undefined) return
    if (!info.isDirectory()) {
      found.push({ index, relative, contents: readFileSync(path) })
      return
    }
    found.push({ index, relative, contents: null })
    for (const name of readdirSync(path).sort()) visit(index, join(relative, name))
  }
  for (const index of paths.keys()) visit(index, '')
  return found
}

/**
 * Puts the files and folders back to what the snapshot holds. The listed folders themselves stay, so that a server
 * that works in one keeps its working folder.
 */
export function writeFiles(paths: readonly string[], snapshot: FilesSnapshot): void {
  for (const [index, path] of paths.entries()) {
    const info = statSync(path, { throwIfNoEntry: false })
    if (info?.isDirectory() === true) {
      for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true, force: true })
    } else if (info !== undefined && !snapshot.some((entry) => entry.index === index)) {
      rmSync(path, { force: true })
    }
  }
  for (const { index, relative, contents } of snapshot) {
    const path = join(paths[index], relative)
    if (contents === null) {
      mkdirSync(path, { recursive: true })
    } else {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, contents)
    }
  }
}

/** The snapshot as text: one line a file or folder, sorted. */
export function describeFiles(snapshot: FilesSnapshot): string {
  const line = ({ index, relative, contents }: SnapshotEntry): string =>
    `${index}:${relative}${contents === null ? '/' : ` ${JSON.stringify(contents.toString('utf8'))}`}`
  return snapshot.map(line).sort().join('\n')
}
