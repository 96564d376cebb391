// Private databases of the machine for the servers of the table, in a temporary folder and on a free port of this machine only.
import { execFile, execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { BenchService } from './servers.ts'

/** Where a database can be reached. */
export interface ServiceAddress {
  url: string
  host: string
  port: string
  user: string
  password: string
  database: string
}

export interface RunningService {
  address: ServiceAddress
  stop(): Promise<void>
}

/** A user of the machine for programs that refuse to run as root. */
interface Owner {
  uid: number
  gid: number
}

const host = '127.0.0.1'
const user = 'agoge'
const database = 'shop'
const dataFolder = fileURLToPath(new URL('data', import.meta.url))
const run = promisify(execFile)

/**
 * Starts a database with the state of `service.seed`, and waits until it answers.
 *
 * @throws Error if the program is not installed or does not start within a minute.
 */
export async function startService(service: BenchService): Promise<RunningService> {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-service-'))
  const port = String(await freePort())
  const seed = service.seed === undefined ? undefined : readFileSync(join(dataFolder, service.seed), 'utf8')
  const started = await { postgresql, redis, mariadb }[service.program](folder, port, seed)
  return {
    address: started.address,
    async stop() {
      const ended = new Promise((resolve) => started.process.once('exit', resolve))
      if (started.process.exitCode === null && started.process.kill(started.stopWith)) await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** `stopWith`: the signal on which the program ends without waiting for its clients. */
type Started = Promise<{ process: ChildProcess; address: ServiceAddress; stopWith: 'SIGINT' | 'SIGTERM' }>

async function postgresql(folder: string, port: string, seed: string | undefined): Started {
  const programs = postgresPrograms()
  const owner = ownerFor('postgres', folder)
  const data = join(folder, 'data')
  await run(join(programs, 'initdb'), ['-D', data, '-A', 'trust', '-U', user, '-E', 'UTF8'], owner)
  const options = ['-D', data, '-p', port, '-h', host, '-k', folder, '-c', 'fsync=off']
  const child = spawn(join(programs, 'postgres'), options, { ...owner, stdio: 'ignore' })
  const connection = ['-h', host, '-p', port, '-U', user]
  await untilReady(child, () => run(join(programs, 'pg_isready'), connection))
  await run(join(programs, 'createdb'), [...connection, database])
  if (seed !== undefined)
    execFileSync(join(programs, 'psql'), [...connection, '-q', '-v', 'ON_ERROR_STOP=1', database], {
      input: seed,
    })
  const url = `postgresql://${user}@${host}:${port}/${database}`
  return { process: child, address: { url, host, port, user, password: '', database }, stopWith: 'SIGINT' }
}

async function redis(folder: string, port: string): Started {
  const options = ['--port', port, '--bind', host, '--save', '', '--appendonly', 'no', '--dir', folder]
  const child = spawn('redis-server', options, { stdio: 'ignore' })
  await untilReady(child, () => run('redis-cli', ['-p', port, 'ping']))
  const url = `redis://${host}:${port}`
  return {
    process: child,
    address: { url, host, port, user: '', password: '', database: '0' },
    stopWith: 'SIGINT',
  }
}

async function mariadb(folder: string, port: string, seed: string | undefined): Started {
  const owner = ownerFor('mysql', folder)
  const data = join(folder, 'data')
  const socket = join(folder, 'socket')
  const password = 'agoge-shop'
  mkdirSync(data)
  if ('uid' in owner) chownSync(data, owner.uid, owner.gid)
  await run(
    'mariadb-install-db',
    ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db'],
    owner,
  )
  const options = ['--no-defaults', `--datadir=${data}`, `--port=${port}`, `--bind-address=${host}`]
  const program = existsSync('/usr/sbin/mariadbd') ? '/usr/sbin/mariadbd' : 'mariadbd'
  const child = spawn(program, [...options, `--socket=${socket}`], { ...owner, stdio: 'ignore' })
  const client = ['--no-defaults', `--socket=${socket}`, '-u', 'root']
  await untilReady(child, () => run('mariadb', [...client, '-e', 'select 1']))
  const make = `create database ${database}; create user '${user}'@'${host}' identified by '${password}'; grant all on ${database}.* to '${user}'@'${host}';`
  execFileSync('mariadb', client, { input: make })
  if (seed !== undefined) execFileSync('mariadb', [...client, database], { input: seed })
  const url = `mysql://${user}:${password}@${host}:${port}/${database}`
  return { process: child, address: { url, host, port, user, password, database }, stopWith: 'SIGTERM' }
}

/** The newest PostgreSQL of Debian, whose programs are not on the PATH. */
function postgresPrograms(): string {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : []
  if (versions.length === 0) throw new Error(`no PostgreSQL in ${root}: apt install postgresql`)
  return join(root, versions[0], 'bin')
}

/** PostgreSQL and MariaDB refuse to run as root. Their package made a user for them, who then owns the folder. */
function ownerFor(name: string, folder: string): Owner | Record<string, never> {
  if (process.getuid?.() !== 0) return {}
  const id = (option: string): number => Number(execFileSync('id', [option, name], { encoding: 'utf8' }))
  const owner = { uid: id('-u'), gid: id('-g') }
  chownSync(folder, owner.uid, owner.gid)
  return owner
}

async function untilReady(child: ChildProcess, ask: () => Promise<unknown>): Promise<void> {
  let failure: unknown
  child.once('error', (error) => (failure = error))
  for (const until = Date.now() + 60_000; Date.now() < until; await sleep(100)) {
    if (failure !== undefined || child.exitCode !== null) break
    try {
      await ask()
      return
    } catch (error) {
      if (child.exitCode !== null) failure = error
    }
  }
  child.kill('SIGKILL')
  throw new Error('the database did not start within a minute', { cause: failure })
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, host, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
