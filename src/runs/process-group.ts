import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { defined } from '../defined.ts'

const windows = process.platform === 'win32'
const alive = new Set<ChildProcessWithoutNullStreams>()
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

function killAll(): void {
  for (const child of alive) if (child.pid !== undefined) killTree(child.pid, 'SIGKILL')
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
 * ended with it. All remaining groups are killed when this process exits or is interrupted.
 */
export function spawnGroup(
  command: string,
  args: readonly string[],
  options: { env: Record<string, string>; cwd?: string },
): ChildProcessWithoutNullStreams {
  const child = spawn(command, args, {
    env: options.env,
    stdio: ['pipe', 'pipe', 'pipe'],
    // On Windows, `npx` and other scripts are .cmd files, which only a shell can start.
    shell: windows && !/\.exe$/i.test(command),
    detached: !windows,
    windowsHide: true,
    ...defined({ cwd: options.cwd }),
  })
  if (alive.size === 0) watch()
  alive.add(child)
  child.once('error', () => {
    if (child.pid === undefined) forget(child)
  })
  child.once('exit', () => {
    if (child.pid !== undefined) killTree(child.pid, 'SIGKILL')
    forget(child)
  })
  return child
}

/** Ends a group: closes its input and sends SIGTERM, then SIGKILL after `graceMs`. Resolves when the leader has exited. */
export async function endGroup(child: ChildProcessWithoutNullStreams, graceMs = 300): Promise<void> {
  const pid = child.pid
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.stdin.end()
  killTree(pid, 'SIGTERM')
  const timer = setTimeout(() => killTree(pid, 'SIGKILL'), graceMs)
  await exited
  clearTimeout(timer)
}
