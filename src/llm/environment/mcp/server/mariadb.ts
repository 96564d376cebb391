import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { makeLockedFolder } from '../../../../runs/lock.ts'
import { fastTemporaryFolder } from '../../../../runs/temporary-folder.ts'
import { InfrastructureError } from '../../../tool/tool.ts'
import { createMariadbDatabase, databaseStatement, type MariadbDump } from './mariadb-state.ts'
import {
  asUser,
  freePort,
  giveFolder,
  isRoot,
  notStarted,
  ready,
  runProgram,
  startDaemon,
  type Service,
  type StarterOptions,
  type StartService,
} from './service-process.ts'
import type { ServiceConfig } from './service-config.ts'
import { mariadbClient, openSqlSession } from './sql-session.ts'

/** The database and its user, who may do nothing elsewhere. The same in each slot, since results show them. */
const name = 'agoge'
const account = `${name}@'127.0.0.1'`
const makeDatabase = `CREATE DATABASE IF NOT EXISTS ${name}; GRANT ALL ON ${name}.* TO ${account};`

const utf8 = '--default-character-set=utf8mb4'

/** A MariaDB without databases that runs. */
interface MariadbServer {
  port: number
  /** The client, as the user who may do everything. */
  client: readonly string[]
  /** The program that writes dumps, as that user. */
  dumper: readonly string[]
  close(): Promise<void>
}

/**
 * Starts a private MariaDB for each slot, in a temporary folder of its own. Resetting puts back the rows and, where they changed, the
 * definitions, while connections stay open. If that cannot be done, the connections of the server are ended first.
 *
 * MariaDB refuses to run as root. There it runs as the user `mysql`, or as the one that the configuration names.
 */
export function startMariadb(config: ServiceConfig, { redact }: StarterOptions): StartService {
  return async (_folder, signal): Promise<Service> => {
    const server = await startServer(config, redact, signal)
    const { port, client, dumper } = server
    const variables = variablesOf(port)
    const sql = (text: string): Promise<string> => runProgram(client, { input: text, redact })
    try {
      await sql(`CREATE USER ${account}; ${makeDatabase}`)
      if (config.seed !== undefined) await runSeed(config.seed, port)
      const run = (...only: string[]): Promise<string> => runProgram([...dumper, ...only, name], { redact })
      const dump: MariadbDump = {
        whole: await run('--routines', '--events'),
        rows: await run('--no-create-info', '--skip-triggers', '--skip-disable-keys', '--skip-add-locks'),
        database: await runProgram([...client, '-N', '-r', name], { input: databaseStatement, redact }),
      }
      const open = () => {
        const session = openSqlSession(mariadbClient([...client, name]), redact)
        return { ...createMariadbDatabase(session, dump), close: () => session.close() }
      }
      let opened = open()
      const reset = async (): Promise<void> => {
        try {
          await opened.restore()
        } catch (error) {
          if (!(error instanceof InfrastructureError)) throw error
          await opened.close()
          await sql(`KILL USER ${account}; ${makeDatabase}`)
          opened = open()
          await opened.restore()
        }
      }
      await reset()
      return {
        places: {
          service: variables['DATABASE_URL'],
          host: '127.0.0.1',
          port: String(port),
          database: name,
          user: name,
        },
        env: variables,
        reset: config.reset === undefined ? reset : () => runSeed(config.reset ?? '', port),
        describe: () => opened.describe(),
        records: () => opened.records(),
        async close() {
          await opened.close()
          await server.close()
        },
      }
    } catch (error) {
      await server.close()
      throw error
    }
  }
}

/** Variables that clients of MySQL and MariaDB read. */
function variablesOf(port: number) {
  return {
    MYSQL_HOST: '127.0.0.1',
    MYSQL_PORT: String(port),
    MYSQL_TCP_PORT: String(port),
    MYSQL_USER: name,
    MYSQL_PASSWORD: '',
    MYSQL_DATABASE: name,
    DATABASE_URL: `mysql://${name}@127.0.0.1:${port}/${name}`,
  }
}

/** A database that is thrown away needs no care for its files, and little memory. */
const settings = [
  '--bind-address=127.0.0.1',
  '--skip-name-resolve',
  '--character-set-server=utf8mb4',
  '--innodb-flush-log-at-trx-commit=0',
  '--skip-innodb-doublewrite',
  '--innodb-log-file-size=16M',
  '--innodb-buffer-pool-size=64M',
  '--max-allowed-packet=256M',
]

async function startServer(
  config: ServiceConfig,
  redact: (text: string) => string,
  signal: AbortSignal | undefined,
): Promise<MariadbServer> {
  const [installer, mariadbd] = [program('mariadb-install-db'), program('mariadbd')]
  const user = isRoot() ? (config.user ?? 'mysql') : undefined
  const folder = makeLockedFolder(fastTemporaryFolder(), 'agoge-mariadb')
  const end = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    if (user !== undefined) await giveFolder(folder, user, 'mariadb')
    const port = await freePort()
    const [data, socket] = [`--datadir=${join(folder, 'data')}`, `--socket=${join(folder, 'socket')}`]
    const access = ['--auth-root-authentication-method=socket', '--skip-test-db']
    const admin = `--auth-root-socket-user=${user ?? userInfo().username}`
    const install = [installer, '--no-defaults', data, ...access, admin]
    await runProgram(asUser(user, install), { cwd: folder, redact })
    const command = asUser(user, [mariadbd, '--no-defaults', data, socket, `--port=${port}`, ...settings])
    const daemon = startDaemon(command, { name: 'mariadbd', cwd: folder, redact })
    const close = async (): Promise<void> => {
      await daemon.close()
      await end()
    }
    const clientOf = (file: string): string[] =>
      asUser(user, [program(file), '--no-defaults', utf8, '--max-allowed-packet=256M', socket])
    const client = clientOf('mariadb')
    const plain = ['--skip-comments', '--skip-lock-tables', '--hex-blob']
    try {
      await ready(
        () =>
          runProgram(client, { input: 'SELECT 1;' }).then(
            () => true,
            () => false,
          ),
        () => daemon.failure(),
        signal,
      )
      return { port, client, dumper: [...clientOf('mariadb-dump'), ...plain], close }
    } catch (error) {
      await close()
      throw error
    }
  } catch (error) {
    await end()
    throw error
  }
}

/** Runs a file of SQL, or a shell command, as the user of the server. */
async function runSeed(seed: string, port: number): Promise<void> {
  const file = resolve(seed)
  const where = ['-h', '127.0.0.1', '-P', String(port), '-u', name, name]
  if (seed.endsWith('.sql') && existsSync(file)) {
    const client = [program('mariadb'), '--no-defaults', utf8, ...where]
    await runProgram(client, { input: readFileSync(file, 'utf8') })
  } else await runProgram(['/bin/sh', '-c', seed], { env: variablesOf(port) })
}

/** The path of a program of MariaDB. */
function program(file: string): string {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']
  const found = folders.map((folder) => join(folder, file)).find((path) => existsSync(path))
  if (found !== undefined) return found
  throw notStarted(
    `MariaDB is not installed on this machine: there is no ${file}`,
    'Install it (Debian: apt-get install mariadb-server), or name a database of your own: "service": { "start": "...", "reset": "..." }.',
  )
}
