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
  const { limitSeconds = 120, onStart, signal, ...others } = options
  const running = startCli(args, others)
  let overtime = false
  const timer = setTimeout(() => {
    overtime = true
    running.kill()
  }, limitSeconds * 1000)
  signal?.addEventListener('abort', running.kill)
  if (running.pid !== undefined) onStart?.(running.pid)
  try {
    return { ...(await running.ended), overtime }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', running.kill)
  }
}

/** A section without a pause. */
export interface Section {
  /** When it began and ended (`clock.mjs`). */
  begun: number
  ended: number
  /** Milliseconds of processor time. */
  milliseconds: number
}

/** A command line that runs until it is stopped, such as a server. */
export interface Running {
  /** Undefined: it could not be started. `ended` then rejects. */
  pid: number | undefined
  /** What it has printed so far. */
  stdout: () => string
  stderr: () => string
  /** Waits for a pattern on its standard output. Rejects if it ends before, or after `limitSeconds` (default: 120). */
  printed: (pattern: RegExp, limitSeconds?: number) => Promise<RegExpExecArray>
  /** Sections of more than 10 ms that ended since then (`clock.mjs`; default: ever). */
  sections: (since?: number) => Section[]
  /** Sends a signal to it alone. */
  send: (signal: NodeJS.Signals) => void
  /** Kills it with all that it started. */
  kill: () => void
  /** How it ended. */
  ended: Promise<Omit<Ended, 'overtime'>>
}

/** Starts the built command line without a terminal, in a process group of its own. */
export function startCli(
  args: readonly string[],
  { cwd, env = {}, sectionsAfter }: Pick<RunOptions, 'cwd' | 'env' | 'sectionsAfter'>,
): Running {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-attack-'))
  const [sections, log] = [join(folder, 'sections.json'), join(folder, 'sections.log')]
  const child = spawn(process.execPath, ['--import', watcher, cli, ...args], {
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ...env,
      SECTIONS_FILE: sections,
      SECTIONS_LOG: log,
      ...(sectionsAfter === undefined ? {} : { SECTIONS_AFTER: sectionsAfter }),
    },
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (...how) => resolve(how))
  })
    .then(([code, signal]) => {
      const longest = existsSync(sections) ? readLongest(sections) : undefined
      return { code, signal, stdout, stderr, ...(longest === undefined ? {} : { longestSection: longest }) }
    })
    .finally(() => rmSync(folder, { recursive: true, force: true }))
  let closed = false
  const isOver = (): boolean => child.pid === undefined || closed
  // Not everybody waits for its end.
  void ended.catch(() => {}).finally(() => (closed = true))
  return {
    pid: child.pid,
    stdout: () => stdout,
    stderr: () => stderr,
    printed: (pattern, limitSeconds = 120) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = pattern.exec(stdout)
          if (found === null) return
          done()
          resolve(found)
        }
        const fail = (why: string): void => {
          done()
          reject(new Error(`agoge ${args.join(' ')}: ${why} without ${String(pattern)}\n${stdout}${stderr}`))
        }
        const onEnd = (): void => fail('it ended')
        const timer = setTimeout(() => fail(`${limitSeconds} s`), limitSeconds * 1000)
        const done = (): void => {
          clearTimeout(timer)
          child.stdout.off('data', look)
          child.off('close', onEnd)
        }
        child.stdout.on('data', look)
        child.once('close', onEnd)
        if (isOver()) onEnd()
        else look()
      }),
    sections: (since = 0) =>
      existsSync(log) ? readSections(log).filter(({ ended: at }) => at >= since) : [],
    send: (signal) => void (isOver() || child.kill(signal)),
    kill() {
      if (child.pid === undefined || isOver()) return
      // Also if it has ended itself, and something that it started holds its output.
      try {
        process.kill(-child.pid, 'SIGKILL')
      } catch {
        // All have ended.
      }
    },
    ended,
  }
}

function readSections(log: string): Section[] {
  const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => {
    const [begun, ended, milliseconds] = line.split(' ').map(Number)
    return { begun, ended, milliseconds }
  })
}

function readLongest(file: string): number | undefined {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { longest: number }).longest
  } catch {
    // It was killed while it wrote.
    return undefined
  }
}
