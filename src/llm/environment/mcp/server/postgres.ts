import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import { makeLockedFolder } from '../../../../runs/lock.ts'
import { fastTemporaryFolder } from '../../../../runs/temporary-folder.ts'
import { InfrastructureError } from '../../../tool/tool.ts'
import { createPostgresDatabase, type PostgresDump } from './postgres-state.ts'
import { openSqlSession, psqlClient } from './sql-session.ts'
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

const owner = 'agoge'

/**
 * A database that is thrown away needs no care for its files. Compiling a query takes longer than running it on a few rows, and
 * cleaning up at any time would make results vary.
 */
const speed = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  jit: 'off',
  autovacuum: 'off',
}

interface Cluster {
  port: number
  /** Runs SQL in a database as the owner of the cluster. */
  sql: (database: string, text: string) => Promise<void>
  bin: string
  /** What `seed` filled in, as SQL. */
  dump: PostgresDump
  close(): Promise<void>
}

/**
 * Starts a private PostgreSQL in a temporary folder when the first slot needs it. Each slot has a database of its own,
 * a copy of the one that `seed` filled. Resetting makes everything in it anew, while connections stay open. If that cannot be
 * done, the database is replaced by another copy, which ends its connections.
 *
 * PostgreSQL refuses to run as root. There it runs as the user `postgres`, or as the one that the configuration names.
 */
export function startPostgres(
  config: ServiceConfig,
  options: StarterOptions,
): { start: StartService; close: () => Promise<void> } {
  let cluster: Promise<Cluster> | undefined
  let databases = 0
  return {
    async start(_folder, signal): Promise<Service> {
      cluster ??= startCluster(config, options, signal)
      const { port, sql, bin, dump } = await cluster
      const database = `agoge_${++databases}`
      const copy = async (): Promise<void> => {
        await sql('postgres', `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
        await sql('postgres', `CREATE DATABASE ${database} TEMPLATE agoge OWNER ${owner}`)
      }
      await copy()
      const open = () => {
        const session = openSqlSession(psqlClient(psql(bin, port, database)), options.redact)
        return { ...createPostgresDatabase(session, dump), close: () => session.close() }
      }
      let opened = open()
      const reset = async (): Promise<void> => {
        try {
          await opened.restore()
        } catch (error) {
          if (!(error instanceof InfrastructureError)) throw error
          await opened.close()
          await copy()
          opened = open()
        }
      }
      const url = `postgresql://${owner}@127.0.0.1:${port}/${database}`
      return {
        places: { service: url, host: '127.0.0.1', port: String(port), database, user: owner },
        env: {
          PGHOST: '127.0.0.1',
          PGPORT: String(port),
          PGUSER: owner,
          PGDATABASE: database,
          DATABASE_URL: url,
        },
        reset:
          config.reset === undefined ? reset : () => runSeed(config.reset ?? '', { port, sql, database }),
        describe: () => opened.describe(),
        records: () => opened.records(),
        async close() {
          await opened.close()
          await sql('postgres', `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`).catch(() => {})
        },
      }
    },
    async close() {
      await (await cluster?.catch(() => undefined))?.close()
      cluster = undefined
    },
  }
}

async function startCluster(
  config: ServiceConfig,
  { redact }: StarterOptions,
  signal: AbortSignal | undefined,
): Promise<Cluster> {
  const bin = programs()
  const user = isRoot() ? (config.user ?? 'postgres') : undefined
  const folder = makeLockedFolder(fastTemporaryFolder(), 'agoge-postgres')
  const data = join(folder, 'data')
  const port = await freePort()
  const end = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    if (user !== undefined) await giveFolder(folder, user, 'postgres')
    const run = (command: readonly string[], input = ''): Promise<string> =>
      runProgram(asUser(user, command), { input, cwd: folder, redact })
    await run([join(bin, 'initdb'), '-D', data, '-U', owner, '-A', 'trust', '-E', 'UTF8', '--no-sync'])
    const settings = { port, listen_addresses: '127.0.0.1', unix_socket_directories: folder, ...speed }
    const command = asUser(user, [
      join(bin, 'postgres'),
      '-D',
      data,
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ])
    const daemon = startDaemon(command, { name: 'postgres', cwd: folder, redact })
    const sql = async (database: string, text: string): Promise<void> => {
      await runProgram(psql(bin, port, database), { input: text, redact })
    }
    const close = async (): Promise<void> => {
      await daemon.close()
      await end()
    }
    try {
      await ready(
        () =>
          sql('postgres', 'SELECT 1').then(
            () => true,
            () => false,
          ),
        () => daemon.failure(),
        signal,
      )
      await sql('postgres', `CREATE DATABASE agoge OWNER ${owner}`)
      if (config.seed !== undefined) await runSeed(config.seed, { port, sql, database: 'agoge' })
      const where = ['-h', '127.0.0.1', '-p', String(port), '-U', owner]
      const dump = (...only: string[]): Promise<string> =>
        runProgram([join(bin, 'pg_dump'), ...where, ...only, 'agoge'], { redact })
      const [whole, rows] = await Promise.all([dump(), dump('--data-only')])
      return { port, sql, bin, dump: { whole, rows }, close }
    } catch (error) {
      await close()
      throw error
    }
  } catch (error) {
    await end()
    throw error
  }
}

function psql(bin: string, port: number, database: string): string[] {
  const where = ['-h', '127.0.0.1', '-p', String(port), '-U', owner, '-d', database]
  return [join(bin, 'psql'), '-X', '-q', '-v', 'ON_ERROR_STOP=1', ...where]
}

/** Runs a file of SQL, or a shell command, on a database. */
async function runSeed(
  seed: string,
  { port, sql, database }: Pick<Cluster, 'port' | 'sql'> & { database: string },
): Promise<void> {
  const file = resolve(seed)
  if (seed.endsWith('.sql') && existsSync(file)) return sql(database, readFileSync(file, 'utf8'))
  await runProgram(['/bin/sh', '-c', seed], {
    env: { PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: owner, PGDATABASE: database },
  })
}

/** The folder of the programs of PostgreSQL: the newest that Debian's packages have, or one of the PATH. */
function programs(): string {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).toSorted((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ]
  const found = folders.find(
    (folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')),
  )
  if (found !== undefined) return found
  throw notStarted(
    'PostgreSQL is not installed on this machine',
    'Install it (Debian: apt-get install postgresql), or name a database of your own: "service": { "start": "...", "reset": "..." }.',
  )
}
