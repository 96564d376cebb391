import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** One file or folder (`contents` null) below the path of that index; `relative` is '' for the path itself. */
interface SnapshotEntry {
  index: number
  relative: string
  contents: Buffer | null
}

/** Contents of a list of files and folders, free of where they lie: it fits the same list in another place. */
export type FilesSnapshot = readonly SnapshotEntry[]

/** Reads the files, and folders with all that is in them. What does not exist is not in the snapshot. */
export async function readFiles(paths: readonly string[]): Promise<FilesSnapshot> {
  const found: SnapshotEntry[] = []
  const visit = async (index: number, relative: string): Promise<void> => {
    const path = join(paths[index], relative)
    const info = await stat(path).catch(() => undefined)
    if (info === undefined) return
    if (!info.isDirectory()) {
      found.push({ index, relative, contents: await readFile(path) })
      return
    }
    found.push({ index, relative, contents: null })
    for (const name of (await readdir(path)).sort()) await visit(index, join(relative, name))
  }
  for (const index of paths.keys()) await visit(index, '')
  return found
}

/**
 * Puts the files and folders back to what the snapshot holds. The listed folders themselves stay, so that a server
 * that works in one keeps its working folder.
 */
export async function writeFiles(paths: readonly string[], snapshot: FilesSnapshot): Promise<void> {
  for (const [index, path] of paths.entries()) {
    const info = await stat(path).catch(() => undefined)
    if (info?.isDirectory() === true) {
      for (const name of await readdir(path)) await rm(join(path, name), { recursive: true, force: true })
    } else if (!snapshot.some((entry) => entry.index === index)) {
      await rm(path, { force: true })
    }
  }
  for (const { index, relative, contents } of snapshot) {
    const path = join(paths[index], relative)
    if (contents === null) {
      await mkdir(path, { recursive: true })
    } else {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, contents)
    }
  }
}

/** The snapshot as text: one line a file or folder, sorted. */
export function describeFiles(snapshot: FilesSnapshot): string {
  const line = ({ index, relative, contents }: SnapshotEntry): string =>
    `${index}:${relative}${contents === null ? '/' : ` ${JSON.stringify(contents.toString('utf8'))}`}`
  return snapshot.map(line).sort().join('\n')
}
