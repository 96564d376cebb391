import { once } from 'node:events'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import {
  type JSONRPCMessage,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type Transport,
} from '@modelcontextprotocol/client'
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { endGroup, spawnGroup } from '../../runs/process-group.ts'
import { parseForeignJson } from '../../untrusted/foreign-json.ts'
import { noSecrets, type Redact, received, redacted } from '../../untrusted/untrusted.ts'
import { createMessageReader } from './message-reader.ts'
import type { StdioServerConfig } from './server-config.ts'
import { InfrastructureError } from './tool.ts'

const stderrBytes = 4096
/** Characters of it that are kept, so that a secret that is cut at their beginning is not shown. */
const stderrKept = 65_536
const strayLength = 200
/**
 * Characters read of a stray first line. The limit is above what is shown, so that no secret is cut in two before
 * redaction.
 */
const strayRead = 4096
/** Milliseconds in which the last words of a server that has ended are read. */
const lastWords = 200

export interface StdioTransport extends Transport {
  /** The last 4 KB of the server's standard error. */
  stderr(): string
  /** How the process ended, such as `exit code 1`; undefined while it runs. */
  ended(): string | undefined
  pid(): number | undefined
  /** The first line on standard output that is not a message of the protocol. */
  stray(): string | undefined
  /** Why no more of its standard output is read, as a clause. */
  refused(): string | undefined
}

/**
 * Runs MCP over the standard streams of a child process in its own process group. Unlike the SDK's transport, closing
 * takes at most 300 ms whatever the server does, and no process that the server started survives this one.
 *
 * @param redact applied to `stderr()` and `stray()`. Default: nothing is hidden.
 */
export function createStdioTransport(config: StdioServerConfig, redact: Redact = noSecrets): StdioTransport {
  let child: ChildProcessWithoutNullStreams | undefined
  let ended: string | undefined
  let stderr = ''
  let beginning = ''
  let refused: string | undefined

  function watchForStray(chunk: Buffer): void {
    if (beginning.length < strayRead && !beginning.includes('\n')) beginning += chunk.toString('utf8')
  }

  /** The reader skips lines that are not JSON. The first of them often explains why a server never answers. */
  function strayLine(): string | undefined {
    const [line] = beginning.split('\n', 1)
    if (line.length === beginning.length && line.length < strayLength) return undefined
    return line.trimStart().startsWith('{')
      ? undefined
      : redacted(received(line), redact).slice(0, strayLength)
  }

  const reader = createMessageReader({
    onMessage: (message) => transport.onmessage?.(message),
    onError: (error) => transport.onerror?.(error),
    onFull(full) {
      if (full) child?.stdout.pause()
      else if (child?.stdout.isPaused() === true) child.stdout.resume()
    },
    onRefused(why) {
      refused = why
      transport.onerror?.(new Error(why))
      void transport.close()
    },
  })

  function receive(chunk: Buffer): void {
    watchForStray(chunk)
    reader.push(chunk)
  }

  function start(): Promise<void> {
    return new Promise((resolve, reject) => {
      const env = { ...getDefaultEnvironment(), ...config.env }
      const started = spawnGroup(config.command, config.args ?? [], {
        env,
        ...defined({ cwd: config.cwd }),
      })
      child = started
      started.once('error', (error) => reject(spawnError(config, error)))
      started.once('spawn', () => resolve())
      started.once('exit', (code, signal) => {
        ended = signal === null ? `exit code ${code}` : `signal ${signal}`
        closeStreams(started)
      })
      // What it said last is read first.
      started.once('close', () => reader.end(() => transport.onclose?.()))
      started.stdin.on('error', (error) => transport.onerror?.(error))
      started.stdout.on('data', receive)
      started.stderr.on('data', (chunk: Buffer) => {
        stderr = (stderr + chunk.toString('utf8')).slice(-stderrKept)
      })
    })
  }

  /** A process that the server has left behind may hold its streams open for ever. What is in them is read first. */
  function closeStreams(gone: ChildProcessWithoutNullStreams): void {
    const close = (): void => {
      if (gone.stdout.isPaused() && !gone.stdout.destroyed) closeStreams(gone)
      else for (const stream of [gone.stdout, gone.stderr]) stream.destroy()
    }
    setTimeout(() => setImmediate(close), lastWords).unref()
  }

  /** Resolves once the process has ended, and after so many milliseconds if it does not. */
  async function hasEnded(within: number): Promise<void> {
    if (child === undefined || ended !== undefined) return
    await once(child, 'exit', { signal: AbortSignal.timeout(within) }).catch(() => {})
  }

  const transport: StdioTransport = {
    start,
    send(message: JSONRPCMessage) {
      return new Promise((resolve, reject) => {
        if (child === undefined || ended !== undefined || !child.stdin.writable) {
          reject(new InfrastructureError(`the server process is gone (${ended ?? 'closed'})`))
          return
        }
        const { stdin } = child
        stdin.write(`${JSON.stringify(message)}\n`, (error) => {
          if (!error) resolve()
          // The pipe of a process that has ended is closed before its exit code is known.
          else void hasEnded(lastWords).then(() => reject(error))
        })
      })
    },
    async close() {
      if (child === undefined) return
      reader.stop()
      await endGroup(child)
      child.stdout.destroy()
      child.stderr.destroy()
      child.stdin.destroy()
    },
    // Redact first, then cut off the beginning: half a secret would no longer match.
    stderr: () => redacted(received(stderr), redact).slice(-stderrBytes),
    ended: () => ended,
    pid: () => child?.pid,
    stray: strayLine,
    refused: () => refused,
  }
  return transport
}

function spawnError(config: StdioServerConfig, cause: Error): Error {
  const code = 'code' in cause ? cause.code : undefined
  const given = [config.command, ...(config.args ?? [])].join(' ')
  if (code === 'ENOENT') {
    return new AgogeError(`The server's command "${config.command}" was not found.`, {
      code: 'server-command-not-found',
      given,
      expected: 'a program on the PATH, or a path to one (and an existing "cwd", where one is set)',
      hint: 'Install the program, or correct "command" (or "cwd") of this server in the MCP configuration.',
      cause,
    })
  }
  return new AgogeError(`The server's command "${config.command}" could not be started: ${cause.message}`, {
    code: 'server-command-failed',
    given,
    hint: 'Check that the file is executable.',
    cause,
  })
}

const longestCause = 300

export function isTimeout(cause: unknown): boolean {
  return cause instanceof SdkError && cause.code === SdkErrorCode.RequestTimeout
}

/**
 * Describes a server's failure in one or two lines. It redacts before it shortens, because half a secret would no
 * longer match.
 */
export function causeText(cause: unknown, redact: (text: string) => string): string {
  if (isTimeout(cause)) return 'no answer in time'
  if (!(cause instanceof Error)) return String(cause)
  const status = cause instanceof SdkHttpError ? ` (HTTP ${cause.status})` : ''
  // `fetch` hides the reason (ECONNREFUSED ...) in its cause.
  const inner = cause.cause instanceof Error ? ` (${cause.cause.message})` : ''
  return `${schemaText(cause) ?? short(redact(cause.message))}${status}${inner}`
}

const slowStart =
  'Check that it is an MCP server: run its command in a terminal, or look at its log. If it only needs longer to start, say so in the MCP configuration: "agoge": { "NAME": { "connectSeconds": 60 } }.'

/**
 * Advice for a server that does not start.
 *
 * @param cause `'slow'` if it did not answer `initialize` in time.
 * @param stdio undefined for a server behind a URL.
 */
export function connectHint(
  cause: unknown,
  stdio: Pick<StdioTransport, 'ended' | 'stray'> | undefined,
): string {
  if (cause === 'slow' && stdio?.stray() === undefined) return slowStart
  if (stdio !== undefined) {
    return stdio.stray() === undefined
      ? 'Run its command in a terminal to see what it says: it must be an MCP server, and stay to be spoken to over its standard streams.'
      : 'Its standard output must have messages of the protocol alone: let it log to standard error, or correct its command.'
  }
  const status = cause instanceof SdkHttpError ? cause.status : undefined
  if (status === 401 || status === 403) {
    return 'Sign in with OAuth, by "oauth": true in the MCP configuration, or give it a key that it accepts: "headers": { "Authorization": "Bearer ${TOKEN}" }, with TOKEN in the environment.'
  }
  if (status !== undefined && status >= 500)
    return 'The server has a fault of its own: try later, or look at its log.'
  return 'Check "url" (and "headers") in the MCP configuration: is the server running, and is that its endpoint for streamable HTTP (often ending in /mcp)?'
}

interface Issue {
  path?: unknown
  message?: unknown
  errors?: unknown
}

/** The schemas of the protocol report every problem in one JSON list. Only the first problem is shown. */
function schemaText({ message }: Error): string | undefined {
  const [, before, list] = /^([^[]*)(\[\s*\{[\s\S]*\])\s*$/.exec(message) ?? []
  if (list === undefined) return undefined
  try {
    return `${before}its answer is not of the protocol (${issueText((parseForeignJson(list) as Issue[])[0], [])})`
  } catch {
    return undefined
  }
}

/** If no alternative of a union matches, the problem of the first one is reported. */
function issueText({ path, message, errors }: Issue, above: readonly unknown[]): string {
  const where = [...above, ...(Array.isArray(path) ? (path as unknown[]) : [])]
  const alternatives = (Array.isArray(errors) ? errors : []) as Issue[][]
  const [inner] = alternatives[0] ?? []
  if (inner !== undefined) return issueText(inner, where)
  return where.length === 0 ? String(message) : `${where.join('.')}: ${String(message)}`
}

const short = (text: string): string =>
  text.length > longestCause ? `${text.slice(0, longestCause)} ...` : text
