// Runs `agoge train mcp:NAME --sandbox --yes` as a user would, and reads what it printed and stored.
import { spawn } from 'node:child_process'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { prepareFolder } from './prepare.ts'
import { type PrintedMeasures, readMeasures, readPrinted } from './printed.ts'
import { drawRequests, readRun, withoutFolder } from './row.ts'
import type { ServerRow } from './row.ts'
import type { BenchServer } from './servers.ts'

const cli = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

interface Ended {
  code: number | null
  stdout: string
  stderr: string
  minutes: number
  stopped: boolean
}

export const thisMachine = (): ServerRow['machine'] => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: availableParallelism(),
  node: process.version,
})

/** Measures 300 tasks of a server, then trains on it with one seed, for at most `limitMinutes`. Returns its row. */
export async function measureServer(
  server: BenchServer,
  seed: number,
  limitMinutes: number,
): Promise<ServerRow> {
  const { measures, requests } = await tryServer(server, { seed, limitMinutes, count: 300 })
  const folder = prepareFolder(server, seed)
  const options = [
    'train',
    ...sandboxed(server),
    '--seed',
    String(seed),
    '--time-limit',
    String(limitMinutes),
  ]
  const ended = await runCli([...options, '--out', 'run'], folder, limitMinutes)
  const { usable, leftOut, error } = readPrinted(ended.stderr)
  const row: ServerRow = {
    schema: 1,
    server: server.name,
    package: server.package,
    seed,
    date: new Date().toISOString().slice(0, 10),
    command: ['agoge', ...options].join(' '),
    machine: thisMachine(),
    minutes: Number(ended.minutes.toFixed(1)),
    limitMinutes,
    stopped: ended.stopped,
    tools: { all: server.tools, usable, leftOut },
    tasks: measures?.tasks ?? null,
    expert: measures?.expert ?? null,
    cheating: measures?.cheating ?? null,
    requests,
    ...readRun(join(folder, 'run')),
    error: error ?? (ended.code === 0 || ended.stopped ? null : `exit code ${ended.code}`),
  }
  return withoutFolder(row, folder)
}

/** Makes tasks and measures them. Stores them in the server's folder as `tasks.jsonl`. */
export async function tryServer(
  server: BenchServer,
  { seed, limitMinutes, count }: { seed: number; limitMinutes: number; count: number },
): Promise<{ measures: PrintedMeasures | null; requests: string[] }> {
  const options = ['--seed', String(seed), '--count', String(count), '--out', 'tasks.jsonl']
  const folder = prepareFolder(server, seed)
  const { stdout } = await runCli(['tasks', ...sandboxed(server), ...options], folder, limitMinutes)
  return { measures: readMeasures(stdout), requests: drawRequests(join(folder, 'tasks.jsonl'), seed) }
}

export const sandboxed = ({ name, remote }: BenchServer): string[] => [
  `mcp:${name}`,
  remote === true ? '--sandbox=remote' : '--sandbox',
  '--yes',
]

/**
 * Runs the built command line in a folder, shows what it prints, and interrupts it at the limit.
 *
 * @param isEnough Looks at the standard output so far, and ends the command by returning true; `minutes` are those until then.
 */
export async function runCli(
  args: readonly string[],
  cwd: string,
  limitMinutes: number,
  isEnough: (stdout: string) => boolean = () => false,
): Promise<Ended> {
  const began = performance.now()
  const child = spawn(process.execPath, [cli, ...args], {
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  let stopped = false
  let over: number | undefined
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    process.stdout.write(text)
    if (over !== undefined || !isEnough(stdout)) return
    over = performance.now()
    end('SIGINT')
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    process.stderr.write(text)
  })
  const end = (signal: NodeJS.Signals): void => {
    stopped = true
    if (child.pid !== undefined) process.kill(-child.pid, signal)
  }
  const gentle = setTimeout(() => end('SIGINT'), limitMinutes * 60_000)
  const hard = setTimeout(() => end('SIGKILL'), limitMinutes * 60_000 + 60_000)
  const forward = (signal: NodeJS.Signals): void => end(signal)
  process.once('SIGINT', forward).once('SIGTERM', forward)
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    return { code, stdout, stderr, minutes: ((over ?? performance.now()) - began) / 60_000, stopped }
  } finally {
    clearTimeout(gentle)
    clearTimeout(hard)
    process.off('SIGINT', forward).off('SIGTERM', forward)
  }
}
