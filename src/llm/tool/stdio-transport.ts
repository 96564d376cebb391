import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { ReadBuffer } from '@modelcontextprotocol/client'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio'
import { AgogeError } from '../../error.ts'
import { InfrastructureError } from './infrastructure-error.ts'
import { endGroup, spawnGroup } from '../../runs/process-group.ts'
import type { StdioServerConfig } from './server-config.ts'

const stderrBytes = 4096
const strayLength = 200
/** Characters read of a first line: more than are shown, so that no secret is cut in two before it is redacted. */
const strayRead = 4096

export interface StdioTransport extends Transport {
  /** The last 4 KB that the server wrote to its standard error. */
  stderr(): string
  /** How the process ended, e.g. `exit code 1`; undefined while it runs. */
  ended(): string | undefined
  pid(): number | undefined
  /** The first line on its standard output, where that is no message of the protocol. */
  stray(): string | undefined
}

/**
 * MCP over the standard streams of a child process in its own process group. Unlike the SDK's transport, closing
 * takes at most 300 ms however the server behaves, and nothing it started outlives this process.
 *
 * @param redact applied to `stderr()` and `stray()`; default: as they are.
 */
export function createStdioTransport(
  config: StdioServerConfig,
  redact: (text: string) => string = (text) => text,
): StdioTransport {
  let child: ChildProcessWithoutNullStreams | undefined
  let ended: string | undefined
  let stderr = ''
  let beginning = ''
  const buffer = new ReadBuffer()

  function watchForStray(chunk: Buffer): void {
    if (beginning.length < strayRead && !beginning.includes('\n')) beginning += chunk.toString('utf8')
  }

  /** What is no JSON is skipped by the buffer below without a word: the first such line explains a server that never answers. */
  function strayLine(): string | undefined {
    const [line] = beginning.split('\n', 1)
    if (line.length === beginning.length && line.length < strayLength) return undefined
    return line.trimStart().startsWith('{') ? undefined : redact(line).slice(0, strayLength)
  }

  function receive(chunk: Buffer): void {
    watchForStray(chunk)
    try {
      buffer.append(chunk)
    } catch (error) {
      transport.onerror?.(error as Error)
      void transport.close()
      return
    }
    for (;;) {
      try {
        const message = buffer.readMessage()
        if (message === null) return
        transport.onmessage?.(message)
      } catch (error) {
        transport.onerror?.(error as Error)
      }
    }
  }

  function start(): Promise<void> {
    return new Promise((resolve, reject) => {
      const env = { ...getDefaultEnvironment(), ...config.env }
      const started = spawnGroup(config.command, config.args ?? [], {
        env,
        ...(config.cwd === undefined ? {} : { cwd: config.cwd }),
      })
      child = started
      started.once('error', (error) => reject(spawnError(config, error)))
      started.once('spawn', () => resolve())
      started.once('exit', (code, signal) => {
        ended = signal === null ? `exit code ${code}` : `signal ${signal}`
      })
      started.once('close', () => transport.onclose?.())
      started.stdin.on('error', (error) => transport.onerror?.(error))
      started.stdout.on('data', receive)
      started.stderr.on('data', (chunk: Buffer) => {
        // Redacted before the beginning is cut off, for half a secret would not be found any more.
        stderr = redact(stderr + chunk.toString('utf8')).slice(-stderrBytes)
      })
    })
  }

  const transport: StdioTransport = {
    start,
    send(message: JSONRPCMessage) {
      return new Promise((resolve, reject) => {
        if (child === undefined || ended !== undefined || !child.stdin.writable) {
          reject(new InfrastructureError(`the server process is gone (${ended ?? 'closed'})`))
          return
        }
        child.stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()))
      })
    },
    async close() {
      if (child === undefined) return
      await endGroup(child)
      child.stdout.destroy()
      child.stderr.destroy()
      child.stdin.destroy()
    },
    stderr: () => stderr,
    ended: () => ended,
    pid: () => child?.pid,
    stray: strayLine,
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
