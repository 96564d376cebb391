// Servers in processes of their own, asked the same: a bare node:http server, our module over Hono, and the OpenAI server on it.
// Alone: http.ts SERVER.
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { createHttpApp, listen } from '../../src/llm/serving/http.ts'
import { loadModel, readChatFormat, serveOpenAI } from 'agoge'
import { median, printLoading } from './measure.ts'

const answer = {
  object: 'list',
  data: [{ id: 'base', object: 'model', created: 0, owned_by: 'agoge', max_model_len: 1024 }],
}

const servers: Record<string, () => Promise<string>> = {
  'node:http': async () => {
    const server = createServer((incoming, outgoing) => {
      const body = incoming.url === '/v1/models' ? JSON.stringify(answer) : '{}'
      outgoing.writeHead(incoming.url === '/v1/models' ? 200 : 404, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      })
      outgoing.end(body)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  },
  Hono: async () => {
    const app = await createHttpApp()
    app.get('/v1/models', ({ json }) => json(answer))
    const codes = { taken: 'port-taken', other: 'cannot-listen' } as const
    const unreadable = () => new Response(null, { status: 400 })
    return (await listen(app, { host: '127.0.0.1', port: 0, codes, unreadable })).url
  },
  'the OpenAI server': async () => {
    const { backend, tokenizer, folder } = await loadModel()
    const format = await readChatFormat(folder, tokenizer)
    const window = backend.config.max_position_embeddings
    const { url } = await serveOpenAI({ model: { name: 'base', backend, tokenizer, format, window } })
    return url.replace(/\/v1$/, '')
  },
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
async function ask(url: string, body?: string): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const asked = request(url, { agent, method: body === undefined ? 'GET' : 'POST', headers })
  asked.end(body)
  const [incoming] = (await once(asked, 'response')) as [NodeJS.ReadableStream & { statusCode: number }]
  for await (const _ of incoming);
  if (incoming.statusCode !== 200) throw new Error(`status ${incoming.statusCode} of ${url}`)
}

interface Child {
  name: string
  process: ChildProcess
  url: string
}
async function start(name: string): Promise<Child> {
  const execArgv = ['--import', 'tsx', '--conditions', 'agoge-source']
  const child = fork(fileURLToPath(import.meta.url), [name], { execArgv })
  const [url] = (await once(child, 'message')) as [string]
  return { name, process: child, url }
}

/** Microseconds of the server's processor time for each of `count` requests. */
async function measure(child: Child, count: number, send: (url: string) => Promise<void>): Promise<number> {
  const usage = async (): Promise<number> => {
    child.process.send('usage')
    const [microseconds] = (await once(child.process, 'message')) as [number]
    return microseconds
  }
  const before = await usage()
  for (let i = 0; i < count; i++) await send(child.url)
  return ((await usage()) - before) / count
}

/** Prints processor time a request: alternating rounds, medians. */
export async function compare(): Promise<void> {
  const children: Child[] = []
  for (const name of Object.keys(servers)) children.push(await start(name))
  const times: number[][] = []
  for (let round = -2; round < 11; round++) {
    const found: number[] = []
    for (const child of children) found.push(await measure(child, 2_000, (url) => ask(`${url}/v1/models`)))
    if (round >= 0) times.push(found)
  }
  for (const [i, { name }] of children.entries()) {
    const microseconds = median(times.map((found) => found[i]))
    const ratio = median(times.map((found) => found[i] / found[0]))
    console.log(`GET /v1/models, ${name}: ${microseconds.toFixed(0)} µs, ${ratio.toFixed(2)} of node:http`)
  }
  const body = JSON.stringify({
    model: 'base',
    messages: [{ role: 'user', content: 'List the files.' }],
    max_tokens: 40,
  })
  const chats: number[] = []
  for (let round = -2; round < 11; round++) {
    const microseconds = await measure(children[2], 20, (url) => ask(`${url}/v1/chat/completions`, body))
    if (round >= 0) chats.push(microseconds)
  }
  console.log(`a chat of up to 40 tokens, ${children[2].name}: ${(median(chats) / 1e3).toFixed(1)} ms`)
  for (const child of children) child.process.kill()
  printLoading('hono', true)
  printLoading('@hono/node-server', true)
}

const [script, server] = process.argv.slice(1)
if (script === fileURLToPath(import.meta.url) && process.send !== undefined) {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send!(user + system)
  })
  process.send(await servers[server]())
}
