import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
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
