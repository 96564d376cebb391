import { type IncomingHttpHeaders, request } from 'node:http'
import { connect, type Socket } from 'node:net'

/** What a server answered. */
export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

/** An answer, or how the connection ended without one. */
export type Reaction = Answer | { ended: 'closed' | 'reset' | 'nothing in time' }

export interface Asked {
  method?: string
  path: string
  headers?: Readonly<Record<string, string | string[]>>
  body?: string | Buffer
}

const usualLimit = 120

/** Sends a request as clients do, over a connection of its own. */
export function ask(port: number, asked: Asked, limitSeconds = usualLimit): Promise<Reaction> {
  const { method = 'GET', path, headers = {}, body } = asked
  return new Promise((resolve) => {
    const sent = request({ port, host: '127.0.0.1', method, path, headers, agent: false }, (answer) => {
      const parts: Buffer[] = []
      answer.on('data', (part: Buffer) => parts.push(part))
      answer.on('end', () => {
        const { statusCode: status = 0, headers: given } = answer
        resolve({ status, headers: given, body: Buffer.concat(parts).toString() })
      })
      answer.on('error', () => resolve({ ended: 'reset' }))
    })
    const timer = setTimeout(() => {
      resolve({ ended: 'nothing in time' })
      sent.destroy()
    }, limitSeconds * 1000)
    sent.on('error', () => resolve({ ended: 'reset' }))
    sent.on('close', () => {
      clearTimeout(timer)
      resolve({ ended: 'closed' })
    })
    sent.end(body)
  })
}

type Pieces = Iterable<string | Buffer> | AsyncIterable<string | Buffer>

interface Conversation {
  limitSeconds?: number
  /** Ends the sending side after the last piece, as if the client had stopped in the middle. */
  endAfter?: boolean
  /** How many answers to wait for. Default: 1. */
  answers?: number
}

/** Writes bytes as they are, piece by piece until there is an answer. Returns the answers, or how it ended without any. */
export async function converse(
  port: number,
  pieces: Pieces,
  { limitSeconds = usualLimit, endAfter = false, answers: count = 1 }: Conversation = {},
): Promise<Answer[] | Exclude<Reaction, Answer>> {
  const socket = connect(port, '127.0.0.1')
  let bytes = Buffer.alloc(0)
  let ended: Exclude<Reaction, Answer>['ended'] | undefined
  let wake = (): void => {}
  const heard = (): Answer[] => readAnswers(bytes, ended !== undefined)
  const isDone = (): boolean => ended !== undefined || heard().length >= count
  const end = (how: NonNullable<typeof ended>): void => {
    ended ??= how
    wake()
  }
  socket.on('data', (part) => {
    bytes = Buffer.concat([bytes, part])
    wake()
  })
  socket.on('drain', () => wake())
  socket.on('error', () => end('reset'))
  socket.on('close', () => end('closed'))
  const timer = setTimeout(() => end('nothing in time'), limitSeconds * 1000)
  const pause = (): Promise<void> => new Promise((resolve) => (wake = resolve))
  try {
    for await (const piece of pieces) {
      if (isDone()) break
      if (!socket.write(piece)) await pause()
    }
    if (endAfter) socket.end()
    while (!isDone()) await pause()
    const answers = heard()
    return answers.length > 0 ? answers : { ended: ended ?? 'closed' }
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
}

/** The complete answers at the beginning of what came over a connection. */
export function readAnswers(bytes: Buffer, isOver: boolean): Answer[] {
  const answers: Answer[] = []
  for (let rest = bytes; ;) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) return answers
    const [first, ...lines] = rest.toString('latin1', 0, end).split('\r\n')
    const status = Number(first.split(' ')[1])
    const headers = Object.fromEntries(
      lines.map((line) => [line.split(':')[0].toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const read = readContent(rest.subarray(end + 4), headers, isOver)
    if (read === undefined) return answers
    rest = read.rest
    if (status >= 200) answers.push({ status, headers, body: read.body })
    if (rest.length === 0) return answers
  }
}

function readContent(
  bytes: Buffer,
  headers: Readonly<Record<string, string>>,
  isOver: boolean,
): { body: string; rest: Buffer } | undefined {
  if (headers['transfer-encoding'] === 'chunked') return readChunks(bytes)
  const length = headers['content-length'] === undefined ? undefined : Number(headers['content-length'])
  if (length === undefined) return isOver ? { body: bytes.toString(), rest: Buffer.alloc(0) } : undefined
  if (bytes.length < length) return undefined
  return { body: bytes.toString('utf8', 0, length), rest: bytes.subarray(length) }
}

function readChunks(bytes: Buffer): { body: string; rest: Buffer } | undefined {
  const parts: Buffer[] = []
  for (let at = 0; ;) {
    const line = bytes.indexOf('\r\n', at)
    if (line < 0) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16)
    const from = line + 2
    if (bytes.length < from + size + 2) return undefined
    if (size === 0) return { body: Buffer.concat(parts).toString(), rest: bytes.subarray(from + 2) }
    parts.push(bytes.subarray(from, from + size))
    at = from + size + 2
  }
}

/** An open connection that something was written to, to be left alone or cut. */
export function dangle(port: number, bytes: string | Buffer): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, () => resolve(socket)))
    socket.once('error', reject)
    // Whatever comes later is not of interest.
    socket.on('error', () => {})
    socket.resume()
  })
}

/** The bytes of a request, with the headers that are given and no others. */
export function rawRequest(
  line: string,
  headers: Readonly<Record<string, string | string[]>>,
  body = '',
): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((each) => `${name}: ${each}\r\n`),
  )
  return `${line}\r\n${lines.join('')}\r\n${body}`
}
