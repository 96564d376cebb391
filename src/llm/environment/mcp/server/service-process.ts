import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync } from 'node:fs'
import { connect as connectSocket, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { AgogeError } from '../../../../error.ts'
import { endGroup, spawnGroup } from '../../../../runs/process-group.ts'
import type { PlainObject } from '../salient.ts'

/** A running service of one slot. */
export interface Service {
  /** Values for `{service}`, `{host}` and `{port}` in the configuration of the server. */
  places: Record<string, string>
  /** Variables that clients of such a service read. */
  env: Record<string, string>
  /** Resets it to what it was after it was filled. */
  reset(): Promise<void>
  /** What it keeps, by name: the rows of each table, the value of each key. Without it only the server's tools show that. */
  describe?(): Promise<Record<string, unknown>>
  /** Records that it holds now, tables with their columns among them. Arguments of calls are taken from them. */
  records?(): Promise<PlainObject[]>
  /** The state as a value, if that is cheap. */
  snapshot?(): Promise<unknown>
  restore?(snapshot: unknown): Promise<void>
  close(): Promise<void>
}

export interface StarterOptions {
  /** Hides secrets in what commands say. */
  redact: (text: string) => string
}

export type StartService = (folder: string, signal?: AbortSignal) => Promise<Service>

const readySeconds = 60

/** Waits until something is ready, or fails with the reason why it never will be. */
export async function ready(
  isReady: () => Promise<boolean>,
  failure: () => string | false | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  const until = performance.now() + readySeconds * 1000
  while (!(await isReady())) {
    signal?.throwIfAborted()
    const reason = failure()
    if (typeof reason === 'string') throw notStarted(reason)
    if (performance.now() > until) throw notStarted(`it was not ready after ${readySeconds} s`)
    await wait(50)
  }
}

export function notStarted(reason: string, hint?: string): AgogeError {
  return new AgogeError(`The service behind the MCP server could not be started: ${reason}`, {
    code: 'no-service',
    expected: 'a service as the "service" of the "agoge" entry describes it',
    ...(hint !== undefined && { hint }),
  })
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Whether something accepts connections on a port of this machine. */
export function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectSocket(port, '127.0.0.1')
    const end = (found: boolean) => () => {
      socket.destroy()
      resolve(found)
    }
    socket.once('connect', end(true))
    socket.once('error', end(false))
    socket.setTimeout(2000, end(false))
  })
}

export function processEnv(more: Record<string, string> = {}): Record<string, string> {
  const own = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return { ...Object.fromEntries(own), ...more }
}

export function isRoot(): boolean {
  return process.getuid?.() === 0
}

/** The command that runs another one as a user of this machine. Only root can choose one. */
export function asUser(user: string | undefined, command: readonly string[]): string[] {
  if (user === undefined || !isRoot()) return [...command]
  return ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups', '--', ...command]
}

/** A program that stays. */
export interface Daemon {
  /** What to tell a person once it has ended by itself, with its last words; false while it runs. */
  failure(): string | false
  close(): Promise<void>
}

/** Starts a database. What it writes to its log is kept for the case that it ends. */
export function startDaemon(
  [program, ...args]: readonly string[],
  { name, cwd, redact }: { name: string; cwd: string; redact: (text: string) => string },
): Daemon {
  const child = spawnGroup(program, args, { env: processEnv(), cwd })
  let words = ''
  for (const log of [child.stdout, child.stderr])
    log.on('data', (text: Buffer) => (words = (words + text.toString()).slice(-1000)))
  return {
    failure: () => child.exitCode !== null && `${name} ended with ${child.exitCode}: ${redact(words.trim())}`,
    close: () => endGroup(child, 5000),
  }
}

/** Runs a program to its end and returns its standard output. @throws AgogeError with its last words if it fails. */
export async function runProgram(
  command: readonly string[],
  options: {
    input?: string
    cwd?: string
    env?: Record<string, string>
    redact?: (text: string) => string
  } = {},
): Promise<string> {
  const { redact = (text: string) => text } = options
  const [program, ...args] = command
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: processEnv(options.env),
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  })
  let output = ''
  let errors = ''
  child.stdout.on('data', (data: Buffer) => (output += data.toString()))
  child.stderr.on('data', (data: Buffer) => (errors = (errors + data.toString()).slice(-1000)))
  child.stdin.on('error', () => {})
  child.stdin.end(options.input ?? '')
  const code = await new Promise<number | string | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status, by) => resolve(status ?? by))
  }).catch((cause: unknown) => {
    throw notStarted(`${program}: ${cause instanceof Error ? cause.message : String(cause)}`)
  })
  if (code !== 0) throw notStarted(`${program} ended with ${code}: ${redact(errors.trim())}`)
  return output
}

/**
 * Gives a folder to a user of this machine, so that a database that does not run as root can write into it.
 *
 * @throws AgogeError if there is no such user.
 */
export async function giveFolder(folder: string, user: string, kind: string): Promise<void> {
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async (flag) => Number(await runProgram(['id', flag, user]))),
  ).catch(() => {
    throw notStarted(
      `${kind} does not run as root, and this machine has no user "${user}"`,
      `Name one in the "agoge" entry: "service": { "kind": "${kind}", "user": "NAME" }.`,
    )
  })
  chownSync(folder, uid, gid)
}
