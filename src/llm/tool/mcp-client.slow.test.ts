import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { AgogeError } from '../../error.ts'
import { InfrastructureError } from './tool.ts'
import { connectServer } from './mcp-client.ts'
import type { ConnectOptions, McpConnection } from './mcp-client.ts'
import { resolveServer, type ServerConfig } from './server-config.ts'

const faulty = fileURLToPath(new URL('fixtures/faulty-server.mjs', import.meta.url))

async function connect(config: ServerConfig, options?: ConnectOptions): Promise<McpConnection> {
  const connection = await connectServer(config, options)
  onTestFinished(() => connection.close())
  return connection
}

function connectFaulty(env: Record<string, string> = {}, options?: ConnectOptions): Promise<McpConnection> {
  return connect({ name: 'faulty', command: process.execPath, args: [faulty], env }, options)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function untilDead(pid: number): Promise<void> {
  await expect.poll(() => isAlive(pid), { timeout: 120_000 }).toBe(false)
}

test('the everything server: tools, text and structured results', async () => {
  const { config } = resolveServer({
    package: '@modelcontextprotocol/server-everything',
    version: '2026.8.31',
    args: ['stdio'],
  })
  const connection = await connect(config)
  const echo = connection.specs.find((spec) => spec.name === 'echo')
  expect(echo?.inputSchema).toMatchObject({ type: 'object', properties: { message: { type: 'string' } } })
  expect(await connection.call('echo', { message: 'hi there' })).toEqual({
    text: 'Echo: hi there',
    isError: false,
  })
  const weather = await connection.call('get-structured-content', { location: 'Chicago' })
  expect(weather.structured).toHaveProperty('temperature')
  expect(JSON.parse(weather.text)).toEqual(weather.structured)
  expect((await connection.call('echo', {})).isError).toBe(true)
})

test('results: mixed content as text, errors of the tool as its own word', async () => {
  const connection = await connectFaulty()
  expect(connection).toMatchObject({ serverName: 'faulty', serverVersion: '1.2.3' })
  expect(await connection.call('mixed', {})).toEqual({
    text: 'one\n[image image/png]\ninside\n[resource file:///b]',
    isError: false,
  })
  expect(await connection.call('fail', {})).toEqual({ text: 'no such thing', isError: true })
  expect((await connection.call('nowhere', {})).isError).toBe(true)
  expect(connection.healthy()).toBe(true)
})

test('a crash is a fault of infrastructure that quotes the last words', async () => {
  const connection = await connectFaulty()
  const error = await connection.call('crash', {}).catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(InfrastructureError)
  expect((error as Error).message).toMatch(/^MCP server faulty: crash: .*out of cheese/)
  expect(connection.healthy()).toBe(false)
  await expect(connection.call('pid', {})).rejects.toBeInstanceOf(InfrastructureError)
})

test('a call that hangs ends at its deadline, and closing does not wait for the server', async () => {
  const connection = await connectFaulty({ FAULTY_STUBBORN: '1' }, { callSeconds: 0.2 })
  const pid = connection.pid as number
  await expect(connection.call('spin', {})).rejects.toThrow(/no answer in time/)
  expect(connection.healthy()).toBe(false)
  await connection.close()
  await untilDead(pid)
})

test('a cancelled call rejects with the reason and spoils the connection', async () => {
  const connection = await connectFaulty()
  const reason = new Error('enough')
  const stop = new AbortController()
  const call = connection.call('hang', {}, { signal: stop.signal })
  setTimeout(() => stop.abort(reason), 20)
  await expect(call).rejects.toBe(reason)
  expect(connection.healthy()).toBe(false)
})

test('closing ends what the server started, too', async () => {
  const connection = await connectFaulty({ FAULTY_CHILD: '1' })
  const helper = Number((await connection.call('helper', {})).text)
  expect(isAlive(helper)).toBe(true)
  await connection.close()
  await untilDead(helper)
})

test('a command that does not exist is a mistake of the user', async () => {
  const error = await connectServer({ command: 'no-such-program-here' }).catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(AgogeError)
  expect(error).toMatchObject({ code: 'server-command-not-found', given: 'no-such-program-here' })
})

test('a server that dies at once says why', async () => {
  const config = { command: process.execPath, args: ['-e', 'console.error("no database"); process.exit(4)'] }
  await expect(connectServer(config)).rejects.toThrow(/connect: .*exit code 4.*no database/)
})

test('connecting can be given up', async () => {
  const config = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] }
  await expect(connectServer(config, { signal: AbortSignal.timeout(100) })).rejects.toThrow(/timeout/)
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal} to us leaves no server behind`, async () => {
    const client = new URL('mcp-client.ts', import.meta.url).href
    const program = `
      import { connectServer } from ${JSON.stringify(client)}
      const c = await connectServer({
        command: process.execPath, args: [${JSON.stringify(faulty)}],
        env: { FAULTY_CHILD: '1', FAULTY_STUBBORN: '1' },
      })
      console.log(c.pid + ' ' + (await c.call('helper', {})).text)
      await c.call('hang', {})`
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', '--conditions', 'agoge-source', '--input-type=module', '-e', program],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const said = await new Promise<string>((resolve) =>
      child.stdout.once('data', (data) => resolve(String(data))),
    )
    const pids = said.trim().split(' ').map(Number)
    expect(pids.every(isAlive)).toBe(true)
    child.kill(signal)
    expect(await new Promise((resolve) => child.once('exit', (_, by) => resolve(by)))).toBe(signal)
    for (const pid of pids) await untilDead(pid)
  })
}

test('streamable HTTP: headers reach the server, a server that goes away is a fault of infrastructure', async () => {
  const seen: (string | undefined)[] = []
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'web', version: '1' })
    server.registerTool(
      'double',
      { inputSchema: z.object({ n: z.number() }), annotations: { readOnlyHint: true } },
      ({ n }) => ({ content: [{ type: 'text', text: String(2 * n) }] }),
    )
    return server
  })
  const http = createServer((request, response) => {
    seen.push(request.headers.authorization)
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const answer = await handler.fetch(
        new Request(`http://${request.headers.host}${request.url}`, {
          method: request.method ?? 'GET',
          headers: Object.entries(request.headers).map(([name, value]): [string, string] => [
            name,
            String(value),
          ]),
          ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
        }),
      )
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      if (answer.body === null) response.end()
      else Readable.fromWeb(answer.body).pipe(response)
    })()
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
  const connection = await connect({ url, headers: { authorization: 'Bearer sesame' } }, { callSeconds: 60 })
  expect(connection.specs).toMatchObject([{ name: 'double', annotations: { readOnlyHint: true } }])
  expect(await connection.call('double', { n: 21 })).toEqual({ text: '42', isError: false })
  expect(new Set(seen)).toEqual(new Set(['Bearer sesame']))
  http.closeAllConnections()
  await new Promise((resolve) => http.close(resolve))
  await expect(connection.call('double', { n: 1 })).rejects.toBeInstanceOf(InfrastructureError)
  expect(connection.healthy()).toBe(false)
  await expect(connectServer({ url })).rejects.toBeInstanceOf(InfrastructureError)
})
