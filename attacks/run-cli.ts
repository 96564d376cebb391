import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const cli = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const watcher = fileURLToPath(new URL('watch-sections.mjs', import.meta.url))

/** How a command line of Agoge ended, and what it showed. */
export interface Ended {
  code: number | null
  /** The signal that ended it. Null: it ended by itself. */
  signal: NodeJS.Signals | null
  /** Whether it was killed because it took longer than `limitSeconds`. */
  overtime: boolean
  stdout: string
  stderr: string
  /** Longest section without a pause, in milliseconds of processor time. Undefined: not measured, or it ended before the first look. */
  longestSection?: number
}

export interface RunOptions {
  /** The working directory. */
  cwd: string
  env?: Readonly<Record<string, string>>
  /** Seconds after which it is killed with all that it started. Default: 120. */
  limitSeconds?: number
  /** Sections before this file exists are not counted. Default: all count. */
  sectionsAfter?: string
  /** Called with the process as soon as it runs, for signals. */
  onStart?: (pid: number) => void
  signal?: AbortSignal
}

/** Runs the built command line without a terminal, in a process group of its own. Never throws for what the command does. */
export async function runCli(args: readonly string[], options: RunOptions): Promise<Ended> {
  const { cwd, env = {}, limitSeconds = 120, sectionsAfter, onStart, signal } = options
  const folder = mkdtempSync(join(tmpdir(), 'agoge-attack-'))
  const sections = join(folder, 'sections.json')
  const child = spawn(process.execPath, ['--import', watcher, cli, ...args], {
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ...env,
      SECTIONS_FILE: sections,
      ...(sectionsAfter === undefined ? {} : { SECTIONS_AFTER: sectionsAfter }),
    },
  })
  let [stdout, stderr, overtime] = ['', '', false]
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const kill = (): void => {
    if (child.pid === undefined || child.exitCode !== null) return
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {
      // It has just ended.
    }
  }
  const timer = setTimeout(() => {
    overtime = true
    kill()
  }, limitSeconds * 1000)
  signal?.addEventListener('abort', kill)
  if (child.pid !== undefined) onStart?.(child.pid)
  try {
    const [code, ended] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (...how) => resolve(how))
    })
    const longest = existsSync(sections) ? readLongest(sections) : undefined
    return {
      code,
      signal: ended,
      overtime,
      stdout,
      stderr,
      ...(longest === undefined ? {} : { longestSection: longest }),
    }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', kill)
    rmSync(folder, { recursive: true, force: true })
  }
}

function readLongest(file: string): number | undefined {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { longest: number }).longest
  } catch {
    // It was killed while it wrote.
    return undefined
  }
}
