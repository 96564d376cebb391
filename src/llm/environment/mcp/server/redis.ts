import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, join, resolve } from 'node:path'
import {
  answers,
  asUser,
  freePort,
  notStarted,
  ready,
  runProgram,
  startDaemon,
  type Service,
  type StarterOptions,
  type StartService,
} from './service-process.ts'
import type { ServiceConfig } from './service-config.ts'

/**
 * Starts a private Redis for each slot, in the folder of the slot, without files. Resetting empties it and restores what
 * was there after `seed`; connections stay open.
 */
export function startRedis(config: ServiceConfig, { redact }: StarterOptions): StartService {
  return async (folder, signal): Promise<Service> => {
    const program = (process.env['PATH'] ?? '')
      .split(delimiter)
      .map((path) => join(path, 'redis-server'))
      .find((path) => existsSync(path))
    if (program === undefined)
      throw notStarted(
        'Redis is not installed on this machine',
        'Install it (Debian: apt-get install redis-server), or name one of your own: "service": { "start": "...", "reset": "..." }.',
      )
    const port = await freePort()
    const home = join(folder, 'tmp')
    mkdirSync(home, { recursive: true })
    const command = asUser(config.user, [
      program,
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      // A user other than this process's may not enter the slot.
      '--dir',
      config.user === undefined ? home : '/',
    ])
    const daemon = startDaemon(command, { name: 'redis-server', cwd: folder, redact })
    const env = { REDIS_HOST: '127.0.0.1', REDIS_PORT: String(port), REDIS_URL: `redis://127.0.0.1:${port}` }
    try {
      await ready(
        () => answers(port),
        () => daemon.failure(),
        signal,
      )
      if (config.seed !== undefined)
        await fill(config.seed, port, { ...env, AGOGE_PORT: String(port) }, redact)
      const fresh = await dump(port)
      return {
        places: { service: env.REDIS_URL, host: '127.0.0.1', port: String(port) },
        env,
        reset: () => restore(port, fresh),
        describe: () => describeKeys(port),
        records: async () => Object.entries(await describeKeys(port)).map(([key, value]) => ({ key, value })),
        snapshot: () => dump(port),
        restore: (keys) => restore(port, keys as Key[]),
        close: () => daemon.close(),
      }
    } catch (error) {
      await daemon.close()
      throw error
    }
  }
}

/** Runs a file of commands, or a shell command. */
async function fill(
  seed: string,
  port: number,
  env: Record<string, string>,
  redact: (text: string) => string,
): Promise<void> {
  const file = resolve(seed)
  if (existsSync(file))
    await runProgram(['redis-cli', '-h', '127.0.0.1', '-p', String(port)], {
      input: readFileSync(file, 'utf8'),
    })
  else await runProgram(['/bin/sh', '-c', seed], { env, redact })
}

interface Key {
  name: Buffer
  value: Buffer
  milliseconds: string
}

async function dump(port: number): Promise<Key[]> {
  const names = (await converse(port, [['KEYS', '*']]))[0] as Buffer[]
  const found = await converse(
    port,
    names.flatMap((name) => [
      ['DUMP', name],
      ['PTTL', name],
    ]),
  )
  return names.map((name, index) => ({
    name,
    value: found[2 * index] as Buffer,
    milliseconds: String(Math.max(0, found[2 * index + 1] as number)),
  }))
}

async function restore(port: number, keys: readonly Key[]): Promise<void> {
  await converse(port, [
    ['FLUSHALL'],
    ...keys.map(({ name, value, milliseconds }) => ['RESTORE', name, milliseconds, value]),
  ])
}

/** How the value of each type is read. */
const readers: Readonly<Record<string, (name: Buffer) => (string | Buffer)[]>> = {
  string: (name) => ['GET', name],
  list: (name) => ['LRANGE', name, '0', '-1'],
  set: (name) => ['SMEMBERS', name],
  zset: (name) => ['ZRANGE', name, '0', '-1', 'WITHSCORES'],
  hash: (name) => ['HGETALL', name],
}

/** The value of each key, and whether it expires. Of a stream or a module's value it is the dump. */
async function describeKeys(port: number): Promise<Record<string, unknown>> {
  const names = (await converse(port, [['KEYS', '*']]))[0] as Buffer[]
  const facts = await converse(
    port,
    names.flatMap((name) => [
      ['TYPE', name],
      ['PTTL', name],
    ]),
  )
  const types = names.map((_, index) => textOf(facts[2 * index]) as string)
  const values = await converse(
    port,
    names.map((name, index) => readers[types[index]]?.(name) ?? ['DUMP', name]),
  )
  return Object.fromEntries(
    names.map((name, index): [string, unknown] => {
      const value = textOf(values[index])
      const sorted = types[index] === 'set' ? (value as string[]).toSorted() : value
      const expires = (facts[2 * index + 1] as number) >= 0
      return [
        name.toString(),
        types[index] === 'string' && !expires ? sorted : { [types[index]]: sorted, expires },
      ]
    }),
  )
}

function textOf(reply: Reply): unknown {
  if (Array.isArray(reply)) return reply.map(textOf)
  return Buffer.isBuffer(reply) ? reply.toString() : reply
}

type Reply = Buffer | number | null | Reply[]

/** Sends commands to Redis and returns the replies, in the protocol RESP2. */
function converse(port: number, commands: readonly (string | Buffer)[][]): Promise<Reply[]> {
  if (commands.length === 0) return Promise.resolve([])
  return new Promise((done, fail) => {
    const socket = connect(port, '127.0.0.1')
    let received = Buffer.alloc(0)
    socket.once('error', fail)
    socket.on('data', (data: Buffer) => {
      received = Buffer.concat([received, data])
      const replies: Reply[] = []
      try {
        let at = 0
        while (replies.length < commands.length) {
          const [reply, next] = readReply(received, at)
          replies.push(reply)
          at = next
        }
      } catch (error) {
        if (error instanceof RangeError) return
        socket.destroy()
        fail(error)
        return
      }
      socket.destroy()
      done(replies)
    })
    for (const command of commands) {
      socket.write(`*${command.length}\r\n`)
      for (const word of command) {
        const bytes = Buffer.from(word)
        socket.write(Buffer.concat([Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from('\r\n')]))
      }
    }
  })
}

/** Reads one reply. @throws RangeError if it has not arrived whole. */
function readReply(bytes: Buffer, at: number): [Reply, number] {
  const end = bytes.indexOf('\r\n', at)
  if (end < 0) throw new RangeError('more to come')
  const line = bytes.toString('utf8', at + 1, end)
  const next = end + 2
  switch (bytes.toString('utf8', at, at + 1)) {
    case '-':
      throw new Error(`Redis: ${line}`)
    case ':':
      return [Number(line), next]
    case '$': {
      const length = Number(line)
      if (length < 0) return [null, next]
      if (bytes.length < next + length + 2) throw new RangeError('more to come')
      return [bytes.subarray(next, next + length), next + length + 2]
    }
    case '*': {
      const replies: Reply[] = []
      let from = next
      for (let left = Number(line); left > 0; left--) {
        const [reply, after] = readReply(bytes, from)
        replies.push(reply)
        from = after
      }
      return [replies, from]
    }
    default:
      return [Buffer.from(line), next]
  }
}
