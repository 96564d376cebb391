import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer as createSocketServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createExpertActor } from '../../agent/expert-actor.ts'
import { runEpisodes } from '../../agent/turn-loop.ts'
import { encodeEpisode } from '../../episode/codec.ts'
import { InfrastructureError } from '../../tool/tool.ts'
import type { Episode } from '../../episode/types.ts'
import { resolveServer } from '../../tool/server-config.ts'
import type { McpTask } from './mcp-task.ts'
import type { McpEnvironment } from './mcp-environment.ts'
import { openMcpEnvironment, type OpenMcpEnvironmentOptions } from './open-mcp-environment.ts'

const limits = { turns: 6, deadlineSeconds: 600, toolDeadlineSeconds: 120 }
const secret = 'tok-5c1dca5e77'

async function freePort(): Promise<number> {
  const server = createSocketServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** The official everything server over streamable HTTP, as a process of its own. */
async function startServer(): Promise<{ port: number; kill: () => Promise<void> }> {
  const port = await freePort()
  const { config } = resolveServer({
    package: '@modelcontextprotocol/server-everything',
    version: '2026.8.31',
    args: ['streamableHttp'],
  })
  const child = spawn(config.command, config.args ?? [], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit')
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  for await (const data of child.stderr) if (String(data).includes('listening')) break
  return { port, kill }
}

/** A relay before the server that sees the headers of every request, and repeats a secret header where asked to. */
async function startRelay(port: number): Promise<{ port: number; seen: IncomingHttpHeaders[] }> {
  const seen: IncomingHttpHeaders[] = []
  const relay = createServer((from, to) => {
    seen.push(from.headers)
    const onward = httpRequest(
      { host: '127.0.0.1', port, path: from.url, method: from.method, headers: from.headers },
      (answer) => {
        to.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(to)
      },
    )
    onward.on('error', (error) => {
      // A gateway that says too much, as some do.
      to.writeHead(502, { 'content-type': 'text/plain' })
      to.end(`no upstream for ${from.headers.authorization}: ${error.message}`)
    })
    to.on('close', () => onward.destroy())
    from.pipe(onward)
  }).listen(0, '127.0.0.1')
  await once(relay, 'listening')
  onTestFinished(() => {
    relay.closeAllConnections()
    relay.close()
  })
  return { port: (relay.address() as AddressInfo).port, seen }
}

async function open(port: number, options: OpenMcpEnvironmentOptions = {}): Promise<McpEnvironment> {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'mcp.json')
  const web = {
    url: `http://127.0.0.1:${port}/mcp`,
    headers: { authorization: 'Bearer ${WEB_TOKEN}', 'x-team': 'blue-team-9' },
  }
  writeFileSync(file, JSON.stringify({ mcpServers: { web } }))
  const environment = await openMcpEnvironment('web', {
    file,
    environment: { WEB_TOKEN: secret },
    ...options,
  })
  onTestFinished(() => environment.close())
  return environment
}

function play(environment: McpEnvironment, tasks: readonly McpTask[]): Promise<Episode[]> {
  const specs = tasks.map((task, index) => ({ id: `e${index}`, group: task.id, task }))
  const expert = createExpertActor({ tasks: new Map(specs.map((spec) => [spec.id, spec.task])) })
  return runEpisodes(specs, expert, environment, limits)
}

test('a server over streamable HTTP: tools, tasks, episodes, the rate; then it dies', async () => {
  const server = await startServer()
  const relay = await startRelay(server.port)
  const environment = await open(relay.port, { callsPerSecond: 50 })
  expect(environment.plan).toContain(`(127.0.0.1:${relay.port})`)
  expect(environment.plan).toContain('at most 5000 calls in all, at most 50 a second')
  expect(environment.tools.map((tool) => tool.name)).toEqual(expect.arrayContaining(['echo', 'get-sum']))

  const began = performance.now()
  const { tasks } = await environment.prepareTasks({ seed: 2, counts: { train: 10 }, deadlineSeconds: 5 })
  expect(tasks.kinds).toEqual(expect.arrayContaining(['echo', 'get-sum']))
  const solved = await play(environment, tasks.all('train'))
  expect(solved.map(({ status, success }) => ({ status, success }))).toEqual(
    tasks.all('train').map(() => ({ status: 'ok', success: true })),
  )
  const least = (environment.limit.used().total - 1) / 50
  expect((performance.now() - began) / 1000).toBeGreaterThan(least)
  expect(
    new Set(relay.seen.map((headers) => `${headers.authorization} ${String(headers['x-team'])}`)),
  ).toEqual(new Set([`Bearer ${secret} blue-team-9`]))

  await server.kill()
  const broken = await play(environment, tasks.all('train'))
  for (const episode of broken) {
    expect(episode).toMatchObject({ status: 'masked', ending: 'infrastructure', success: null, rewards: [] })
    expect(episode.error).toMatch(/^MCP server web: .*no upstream for \[redacted\]/)
  }
  const stored = [...solved, ...broken].map(encodeEpisode).join('\n') + environment.plan
  for (const value of [secret, 'blue-team-9']) expect(stored).not.toContain(value)
})

test('an address where nothing listens is reported, without the header', async () => {
  const port = await freePort()
  const failing = open(port)
  await expect(failing).rejects.toBeInstanceOf(InfrastructureError)
  await expect(failing).rejects.toThrow(/^MCP server web: connect: .*ECONNREFUSED/)
})
