import { spawnGroup, endGroup } from '../../../../runs/process-group.ts'
import { InfrastructureError } from '../../../tool/tool.ts'
import { processEnv } from './service-process.ts'

/** A client program of a database that stays connected to it. */
export interface SqlSession {
  /**
   * Runs statements, each with its semicolon, and returns the rows as lines of text.
   *
   * @throws InfrastructureError with the last words of the client if one fails. The session has then ended.
   */
  run(sql: string): Promise<string>
  close(): Promise<void>
}

/** A client program that reads statements from its standard input. */
export interface SqlClient {
  command: readonly string[]
  /** A line that makes it print a text as a line. */
  echo: (text: string) => string
}

/** `psql`, with rows as lines. */
export function psqlClient(command: readonly string[]): SqlClient {
  return { command: [...command, '-A', '-t'], echo: (text) => `\\echo ${text}` }
}

/** `mariadb`, with rows as lines that are written at once. */
export function mariadbClient(command: readonly string[]): SqlClient {
  return { command: [...command, '-N', '-B', '-r', '-n'], echo: (text) => `SELECT '${text}';` }
}

/** Opens a session. Statements are sent one after another; a failed one ends it. */
export function openSqlSession({ command, echo }: SqlClient, redact: (text: string) => string): SqlSession {
  const [program, ...args] = command
  const child = spawnGroup(program, args, { env: processEnv() })
  let output = ''
  let errors = ''
  let last: Promise<unknown> = Promise.resolve()
  let count = 0
  let wake: () => void = () => {}
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    wake()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-1000)))
  child.once('close', () => wake())
  child.once('error', () => wake())
  child.stdin.on('error', () => {})

  async function send(sql: string): Promise<string> {
    const mark = `agoge-${++count}`
    child.stdin.write(`${sql}\n${echo(mark)}\n`)
    for (;;) {
      const end = output.indexOf(`${mark}\n`)
      if (end >= 0) {
        const text = output.slice(0, end)
        output = output.slice(end + mark.length + 1)
        return text
      }
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined)
        throw new InfrastructureError(`${program} ended: ${redact(errors.trim())}`)
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }

  return {
    run(sql) {
      const next = last.then(() => send(sql))
      last = next.catch(() => {})
      return next
    },
    close: () => endGroup(child, 1000),
  }
}
