// A process of bench/gateway/main.ts: the service that streams at a fixed pace, the bare proxy, or the gateway.
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { Agent, createServer, request, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeEpisode, openGateway } from 'agoge/llm'

const [role, upstreamPort] = [process.argv[2], Number(process.argv[3])]
const chunks = 40
const chunkMilliseconds = 50
const now = (): number => Number(process.hrtime.bigint()) / 1e6

const paced: RequestListener = (incoming, outgoing) => {
  incoming.resume()
  incoming.on('end', () => {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
    let sent = 0
    const send = (): void => {
      const isLast = sent === chunks
      const choice = {
        index: 0,
        delta: isLast ? {} : { content: `word ${sent} ` },
        finish_reason: isLast ? 'stop' : null,
      }
      const chunk = {
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'paced',
        choices: [choice],
      }
      outgoing.write(`data: ${JSON.stringify({ ...chunk, sent: now() })}\n\n`)
      sent += 1
      if (!isLast) return
      clearInterval(timer)
      outgoing.end('data: [DONE]\n\n')
    }
    const timer = setInterval(send, chunkMilliseconds)
    outgoing.on('close', () => clearInterval(timer))
    send()
  })
}

const megabytes = (bytes: number): number => Math.round((bytes / 2 ** 20) * 10) / 10
let episodes = 0
// What this process has used, when it is asked.
process.on('message', () => {
  ;(globalThis as { gc?: () => void }).gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  const cpu = (user + system) / 1000
  process.send?.({ cpu, resident: megabytes(rss), heap: megabytes(heapUsed), episodes })
})

const agent = new Agent({ keepAlive: true })
const piped: RequestListener = (incoming, outgoing) => {
  const { method, url, headers } = incoming
  const sent = request(
    { host: '127.0.0.1', port: upstreamPort, method, path: url, headers, agent },
    (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    },
  )
  sent.on('error', () => outgoing.destroy())
  incoming.pipe(sent)
}

function listen(listener: RequestListener): void {
  const server = createServer(listener)
  // Longer than a round: a proxy that has just lost a connection would fail.
  server.keepAliveTimeout = 120_000
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
}

if (role === 'service') listen(paced)
else if (role === 'bare') listen(piped)
else {
  const out = mkdtempSync(join(tmpdir(), 'agoge-bench-gateway-'))
  process.on('exit', () => rmSync(out, { recursive: true, force: true }))
  process.on('SIGTERM', () => process.exit())
  const { url } = await openGateway({
    upstream: `http://127.0.0.1:${upstreamPort}/v1`,
    idleSeconds: 1,
    onEpisode(episode) {
      appendFileSync(join(out, 'episodes.jsonl'), `${encodeEpisode(episode)}\n`)
      episodes += 1
    },
  })
  process.send?.({ port: Number(new URL(url).port) })
}
