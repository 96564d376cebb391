import { createServer, request as ask } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** What a proxy does to a request instead of, or after, forwarding it. */
export type Trouble =
  /** Responds itself. */
  | { status: number; headers?: Record<string, string>; body?: string }
  /** Drops the connection; `late` after the server has done what was asked, so that its answer is lost. */
  | { drop: 'early' | 'late' }
  /** Sends the first part of the server's answer and ends as if that were all, or breaks off. */
  | { half: 'ends' | 'breaks' }
  /** Says nothing at all. */
  | 'silence'

export interface TroubledProxy {
  url: string
  /** Paths of the received requests, with what was done to them. */
  log: string[]
  close(): Promise<void>
}

/**
 * A proxy that injects faults. `trouble` decides for the n-th request of a path, counted from 0; `rewrite` changes whole
 * responses.
 */
export async function startTroubledProxy(
  target: string,
  trouble: (path: string, count: number) => Trouble | undefined,
  rewrite: (path: string, answer: string) => string = (_path, answer) => answer,
): Promise<TroubledProxy> {
  const counts = new Map<string, number>()
  const log: string[] = []

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').replace('/api/v1/', '')
    const count = counts.get(path) ?? 0
    counts.set(path, count + 1)
    const wanted = trouble(path, count)
    log.push(wanted === undefined ? path : `${path} ${JSON.stringify(wanted)}`)
    const parts: Buffer[] = []
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
    if (wanted === 'silence') return
    if (wanted !== undefined && 'status' in wanted) {
      response.writeHead(wanted.status, wanted.headers)
      response.end(wanted.body ?? '{"detail":"trouble"}')
      return
    }
    if (wanted !== undefined && 'drop' in wanted && wanted.drop === 'early') {
      request.socket.destroy()
      return
    }
    const { status, body } = await passOn(`${target}${request.url ?? ''}`, request, Buffer.concat(parts))
    if (wanted === undefined) {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(rewrite(path, body.toString()))
      return
    }
    if ('drop' in wanted) request.socket.destroy()
    else if (wanted.half === 'ends') response.writeHead(status).end(body.subarray(0, body.length / 2))
    else {
      response.writeHead(status, { 'content-length': String(body.length) })
      response.write(body.subarray(0, body.length / 2), () => request.socket.destroy())
    }
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    log,
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

function passOn(url: string, { method, headers }: IncomingMessage, body: Buffer) {
  return new Promise<{ status: number; body: Buffer }>((resolve, reject) => {
    const passed = ask(url, { method, headers: { ...headers, host: new URL(url).host } }, (answer) => {
      const parts: Buffer[] = []
      answer.on('data', (part: Buffer) => parts.push(part))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(parts) }))
    })
    passed.on('error', reject)
    passed.end(body)
  })
}
