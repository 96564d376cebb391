import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { InfrastructureError } from '../../../tool/tool.ts'

/** One file or folder (`contents` null) below the path with that index. `relative` is '' for the path itself. */
interface SnapshotEntry {
  index: number
  relative: string
  contents: Buffer | null
}

/** Contents of files and folders with relative paths, so that they can be restored in another place. */
export type FilesSnapshot = readonly SnapshotEntry[]

// Synchronous on purpose: the files are few and small, and every call between two turns waits for them.

/** Reads the files, and folders with all their contents. Missing ones are not in the snapshot. */
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
 * Restores the files and folders of the snapshot. The listed folders themselves are never deleted, because a server may
 * use one as its working folder.
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

/** Formats the snapshot as text: one line per file or folder, sorted. */
export function describeFiles(snapshot: FilesSnapshot): string {
  const line = ({ index, relative, contents }: SnapshotEntry): string =>
    `${index}:${relative}${contents === null ? '/' : ` ${JSON.stringify(contents.toString('utf8'))}`}`
  return snapshot.map(line).sort().join('\n')
}

const windows = process.platform === 'win32'
const lastWords = 1000
/** Milliseconds to wait for the last output of a failed command. */
const lastWordsWait = 500

interface ResetCommandOptions {
  signal?: AbortSignal | undefined
  /** Seconds that the command may take. Default: 120. */
  seconds?: number
  /** Hides secrets in the command's output. Default: nothing is hidden. */
  redact?: (text: string) => string
  /** Further variables. */
  env?: Record<string, string>
}

/**
 * Runs a shell command that resets the state behind a server. The variable `AGOGE_SLOT` holds the server's folder.
 * Services that the command leaves running in the background are not stopped.
 *
 * @throws InfrastructureError if it fails or takes too long.
 * @throws The signal's reason if it is aborted.
 */
export async function runResetCommand(
  command: string,
  folder: string,
  options: ResetCommandOptions = {},
): Promise<void> {
  const { signal, seconds = 120, redact = (text: string) => text } = options
  signal?.throwIfAborted()
  const child = spawn(command, {
    shell: true,
    // A process group of its own, so that everything the shell starts can be stopped with it.
    detached: !windows,
    windowsHide: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...options.env, AGOGE_SLOT: folder },
  })
  let errors = ''
  child.stderr.on('data', (data: Buffer) => {
    errors = redact(errors + data.toString()).slice(-lastWords)
  })
  const deadline = AbortSignal.timeout(seconds * 1000)
  const stop = signal === undefined ? deadline : AbortSignal.any([signal, deadline])
  const kill = (): void => {
    try {
      if (child.pid !== undefined) process.kill(windows ? child.pid : -child.pid, 'SIGKILL')
    } catch {
      // ESRCH: it has ended by itself.
    }
  }
  stop.addEventListener('abort', kill, { once: true })
  try {
    const code = await new Promise<number | string | null>((resolve, reject) => {
      child.once('error', reject)
      // Output may arrive after the command exits, but a background service may keep the pipe open forever.
      child.once('close', (code, by) => resolve(code ?? by))
      child.once('exit', (code, by) => setTimeout(() => resolve(code ?? by), code === 0 ? 0 : lastWordsWait))
    }).catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new InfrastructureError(`the reset command did not run: ${reason}`, { cause })
    })
    signal?.throwIfAborted()
    if (deadline.aborted) throw new InfrastructureError(`the reset command took longer than ${seconds} s`)
    if (code !== 0) throw new InfrastructureError(`the reset command ended with ${code}: ${errors.trim()}`)
  } finally {
    stop.removeEventListener('abort', kill)
    child.stderr.destroy()
  }
}
