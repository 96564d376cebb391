import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { InfrastructureError } from './tool.ts'
import { connectServer, type McpConnection } from './mcp-client.ts'

async function connect(name: string): Promise<McpConnection> {
  const script = fileURLToPath(new URL(`fixtures/${name}-server.mjs`, import.meta.url))
  const connection = await connectServer({ name, command: process.execPath, args: [script] })
  onTestFinished(() => connection.close())
  return connection
}

test('elicitation and sampling requests are declined, and the call goes on', async () => {
  const connection = await connect('asking')
  expect(JSON.parse((await connection.call('elicit', {})).text)).toEqual({ result: { action: 'decline' } })
  const { error } = JSON.parse((await connection.call('sample', {})).text) as { error: { message: string } }
  expect(error.message).toContain('Agoge answers no sampling requests')
})

test('a tool that the server withdraws cannot be called, one that it adds is listed', async () => {
  const connection = await connect('asking')
  expect((await connection.call('old', {})).text).toContain('still here')
  await connection.call('change', {})
  const failed = connection.call('old', {})
  await expect(failed).rejects.toBeInstanceOf(InfrastructureError)
  await expect(failed).rejects.toThrow('the server no longer lists this tool')
  expect((await connection.listTools()).map(({ name }) => name)).toContain('new')
  expect((await connection.call('new', {})).text).toContain('new here')
})

test('a process that refuses the older handshake is asked with the newest revision', async () => {
  const connection = await connect('modern')
  expect(connection).toMatchObject({ serverName: 'modern', specs: [{ name: 'double' }] })
  expect((await connection.call('double', { n: 21 })).text).toBe('42')
  expect(connection.healthy()).toBe(true)
})

test('a server over HTTP that refuses the older handshake is asked with the newest revision', async () => {
  const handler = createMcpHandler(
    () => {
      const server = new McpServer({ name: 'modern', version: '1' })
      server.registerTool('double', { inputSchema: z.object({ n: z.number() }) }, ({ n }) => ({
        content: [{ type: 'text', text: String(2 * n) }],
      }))
      return server
    },
    { legacy: 'reject' },
  )
  const http = createServer((request, response) => void answer(request, response))
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ])
    const {
      status,
      headers: sent,
      body,
    } = await handler.fetch(
      new Request(`http://${request.headers.host}${request.url}`, {
        method: request.method ?? 'GET',
        headers,
        ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
      }),
    )
    response.writeHead(status, Object.fromEntries(sent))
    if (body === null) response.end()
    else Readable.fromWeb(body).pipe(response)
  }
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  const connection = await connectServer({
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
  })
  onTestFinished(() => connection.close())
  expect((await connection.call('double', { n: 21 })).text).toBe('42')
})
