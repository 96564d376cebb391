import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const cli = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

export interface Output {
  code: number | null
  /** The signal that ended it. Null: it ended by itself. */
  signal: NodeJS.Signals | null
  text: string
}

/** Runs the built command line in a shell, after a line such as `ulimit -n 24`. Kills it after five minutes. */
export function agoge(
  args: readonly string[],
  { cwd, before = ':' }: { cwd: string; before?: string },
): Promise<Output> {
  return new Promise((resolve) => {
    execFile(
      'bash',
      ['-c', `${before}\nexec "$@"`, 'agoge', process.execPath, cli, ...args],
      { cwd, timeout: 300_000, killSignal: 'SIGKILL', maxBuffer: 2 ** 26 },
      (error, stdout, stderr) =>
        resolve({
          code: error === null ? 0 : typeof error.code === 'number' ? error.code : null,
          signal: error?.signal ?? null,
          text: stdout + stderr,
        }),
    )
  })
}

/** What a program of the system prints, such as mount. Throws if it fails. */
export function system(program: string, ...args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, (error, stdout) => (error === null ? resolve(stdout.trim()) : reject(error)))
  })
}
