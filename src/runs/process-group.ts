import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { defined } from '../defined.ts'
import { yieldToEventLoop } from '../event-loop.ts'
import { watchGroup, markVariable, newMark, unwatchGroup } from './process-watchdog.ts'

const windows = process.platform === 'win32'
/** The processes that run, with their marks. */
const alive = new Map<ChildProcessWithoutNullStreams, string>()
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Kills a process and everything it started. Does nothing if it has already exited. */
function killTree(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (windows) {
    spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true })
    return
  }
  try {
    process.kill(-pid, signal)
  } catch {
    // ESRCH: nothing of the group is left.
  }
}

interface RunningProcess {
  pid: number
  parent: number
  group: number
  isMarked: boolean
}

/** The processes of this machine that have not ended, and whether they have this mark. Only Linux tells. */
function runningProcesses(mark: string): RunningProcess[] {
  return processNumbers().flatMap((name) => readProcess(name, mark))
}

/** Processes that are read before others take their turn. A server may start as many as it likes. */
const readInTurn = 50

/** The same, while others run. */
async function runningProcessesInTurns(mark: string): Promise<RunningProcess[]> {
  const found: RunningProcess[] = []
  for (const [at, name] of processNumbers().entries()) {
    if (at % readInTurn === readInTurn - 1) await yieldToEventLoop()
    found.push(...readProcess(name, mark))
  }
  return found
}

const processNumbers = (): string[] =>
  process.platform === 'linux' ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []

/** Nothing for a process that has ended. */
function readProcess(name: string, mark: string): RunningProcess[] {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
    // After the name, which may have brackets: state, parent, group.
    const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (state === 'Z') return []
    const isMarked = environmentOf(name).includes(`${markVariable}=${mark}\0`)
    return [{ pid: Number(name), parent: Number(parent), group: Number(group), isMarked }]
  } catch {
    // It ended while the list was read.
    return []
  }
}

/** What a process was started with; nothing for a process of another user. */
function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    return ''
  }
}

/**
 * The groups of a process's descendants apart from its own: a browser, for example, is started in a group of its own. A
 * descendant whose parents have ended is known by its mark.
 */
function groupsBelow(pid: number, running: readonly RunningProcess[]): number[] {
  const found = new Set([pid])
  const groups = new Set<number>()
  for (let before = 0; found.size > before;) {
    before = found.size
    for (const { pid: child, parent, group, isMarked } of running) {
      if (!found.has(parent) && !isMarked) continue
      found.add(child)
      // 0 is a group that this process cannot see, and would mean its own.
      if (group > 1 && group !== pid) groups.add(group)
    }
  }
  return [...groups]
}

/** Kills the group of a process and those of its descendants. */
function killWithDescendants(pid: number, running: readonly RunningProcess[]): void {
  const others = groupsBelow(pid, running)
  killTree(pid, 'SIGKILL')
  for (const group of others) killTree(group, 'SIGKILL')
}

function killAll(): void {
  for (const [{ pid }, mark] of alive) if (pid !== undefined) killWithDescendants(pid, runningProcesses(mark))
}

/** If there is another listener, the program exits by itself. Otherwise exit as the signal would. */
function onSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return
  killAll()
  unwatch()
  process.kill(process.pid, signal)
}

function watch(): void {
  process.on('exit', killAll)
  for (const signal of signals) process.on(signal, onSignal)
}

function unwatch(): void {
  process.off('exit', killAll)
  for (const signal of signals) process.off(signal, onSignal)
}

function forget(child: ChildProcessWithoutNullStreams): void {
  if (alive.delete(child) && alive.size === 0) unwatch()
}

/**
 * Starts a command as the leader of its own process group, so that everything it starts (e.g. a server behind `npx`) can be
 * ended with it. All remaining groups are killed when this process ends, even by `kill -9` (not on Windows). On Linux this
 * includes processes that left the group and outlived their parent, unless they were started with another environment.
 */
export function spawnGroup(
  command: string,
  args: readonly string[],
  options: { env: Record<string, string>; cwd?: string },
): ChildProcessWithoutNullStreams {
  const mark = newMark()
  const child = spawn(command, args, {
    env: { ...options.env, [markVariable]: mark },
    stdio: ['pipe', 'pipe', 'pipe'],
    // On Windows, `npx` and other scripts are .cmd files, which only a shell can start.
    shell: windows && !/\.exe$/i.test(command),
    detached: !windows,
    windowsHide: true,
    ...defined({ cwd: options.cwd }),
  })
  if (alive.size === 0) watch()
  alive.set(child, mark)
  const { pid } = child
  child.once('error', () => {
    if (pid === undefined) forget(child)
  })
  if (pid === undefined) return child
  watchGroup(pid)
  child.once('exit', () => {
    void runningProcessesInTurns(mark).then((running) => {
      killWithDescendants(pid, running)
      unwatchGroup(pid)
      forget(child)
    })
  })
  return child
}

/** Milliseconds to wait for the end of groups that were killed. */
const killedWithin = 1000

/**
 * Ends a group: closes its input and sends SIGTERM, then SIGKILL after `graceMs`. Then kills the groups that its processes
 * had started. Resolves when the leader has exited and these have ended.
 */
export async function endGroup(child: ChildProcessWithoutNullStreams, graceMs = 300): Promise<void> {
  const { pid } = child
  const mark = alive.get(child)
  if (pid === undefined || mark === undefined) return
  // Its groups may still be looked for after it has exited.
  const hasExited = child.exitCode !== null || child.signalCode !== null
  const exited = hasExited
    ? Promise.resolve()
    : new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const others = groupsBelow(pid, await runningProcessesInTurns(mark))
  child.stdin.end()
  killTree(pid, 'SIGTERM')
  const timer = setTimeout(() => killTree(pid, 'SIGKILL'), graceMs)
  await exited
  clearTimeout(timer)
  for (const group of others) killTree(group, 'SIGKILL')
  const until = performance.now() + killedWithin
  while (performance.now() < until) {
    const running = await runningProcessesInTurns(mark)
    if (!running.some(({ group, isMarked }) => isMarked || others.includes(group))) return
    await wait(10)
  }
}
