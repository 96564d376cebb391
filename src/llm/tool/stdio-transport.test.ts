import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import {
  type ConnectOptions,
  connectServer,
  defaultConnectSeconds,
  type McpConnection,
} from './mcp-client.ts'
import type { ServerConfig } from './server-config.ts'
import { InfrastructureError } from './tool.ts'

/** Why a server does not come up. */
async function fault(config: ServerConfig, options?: ConnectOptions): Promise<InfrastructureError> {
  const error: unknown = await connectServer(config, options).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(InfrastructureError)
  return error as InfrastructureError
}

/** A server of a few lines: what it answers to a method, as an expression of the request `m`. */
function program(answers: Record<string, string>, before = ''): ServerConfig {
  const cases = Object.entries(answers).map(
    ([method, answer]) => `case '${method}': return send(m, ${answer})`,
  )
  const script = `${before}
    const send = (m, body) => console.log(JSON.stringify({ jsonrpc: '2.0', id: m.id, ...body }))
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const m = JSON.parse(line)
      switch (m.method) { ${cases.join('\n')} }
    })`
  return { name: 'small', command: process.execPath, args: ['-e', script] }
}

const initialize =
  "{ result: { protocolVersion: m.params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } }"

test('an http server that does not come up: its status, and what to do', async () => {
  const http = createServer((request, response) => {
    const status = Number(request.url?.slice(1))
    const headers = status === 302 ? { location: '/login' } : { 'content-type': 'text/html' }
    response.writeHead(status, headers).end('x'.repeat(5000))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  const at = (status: number): string => `http://127.0.0.1:${(http.address() as AddressInfo).port}/${status}`
  for (const [status, hint] of [
    [401, /"Authorization": "Bearer \$\{TOKEN\}"/],
    [403, /"Authorization"/],
    [404, /Check "url"/],
    [302, /Check "url"/],
    [500, /fault of its own/],
  ] as const) {
    const error = await fault({ name: 'web', url: at(status) })
    expect(error.message).toMatch(new RegExp(`^MCP server web: connect: .*\\(HTTP ${status}\\)$`))
    expect(error.message.length).toBeLessThan(500)
    expect(error.hint).toMatch(hint)
  }
  expect((await fault({ name: 'web', url: at(200) })).hint).toMatch(/Check "url"/)
})

test('a program that writes something else to its standard output is reported', async () => {
  const chatty = {
    name: 'chatty',
    command: process.execPath,
    args: ['-e', "console.log('Listening on 3000')"],
  }
  const error = await fault(chatty)
  expect(error.message).toContain('it began its standard output with: Listening on 3000')
  expect(error.hint).toMatch(/standard error/)
  const quiet = await fault({ ...chatty, args: ['-e', ''] })
  expect(quiet.message).not.toContain('standard output')
  expect(quiet.hint).toMatch(/in a terminal/)
  const log = program({ initialize, 'tools/list': '{ result: { tools: [] } }' }, "console.log('starting')")
  await (await connectServer(log)).close()
})

test('an answer that is not of the protocol is reported in one line, and once', async () => {
  const wrong = await fault(program({ initialize: '{ result: { protocolVersion: 7 } }' }))
  expect(wrong.message).toMatch(/^MCP server small: connect: .*its answer is not of the protocol \(.*\)$/)
  const refused = await fault(
    program({ initialize, 'tools/list': "{ error: { code: -32000, message: 'no licence' } }" }),
  )
  expect(refused.message).toBe('MCP server small: tools/list: no licence')
})

test('the second entry of a tool that is listed twice is left out, on later pages too', async () => {
  const page = (text: string, rest: string): string =>
    `{ tools: [{ name: 'a', description: '${text}', inputSchema: { type: 'object' } }]${rest} }`
  const list = `{ result: m.params.cursor === undefined ? ${page('first', ", nextCursor: '2'")} : ${page('second', '')} }`
  const connection: McpConnection = await connectServer(program({ initialize, 'tools/list': list }))
  onTestFinished(() => connection.close())
  expect(connection.specs.map(({ description }) => description)).toEqual(['first'])
  expect(connection.unusable).toEqual([{ name: 'a', reason: expect.stringContaining('listed again') }])
})

/** `tools/list` that never ends: page n has the tools that `list` gives for it, and names a next page. */
const pages = (list: string, next = 'n + 1'): ServerConfig =>
  program({
    initialize,
    'tools/list': `((n) => ({ result: { tools: ${list}, nextCursor: String(${next}) } }))(Number(m.params.cursor ?? 0))`,
  })

test('a list of tools that never ends is given up', async () => {
  const empty = await fault(pages('[]'))
  expect(empty.message).toBe('MCP server small: tools/list: it lists more than 500 pages of tools')
  expect(empty.hint).toMatch(/put right in the server/)
  const tool = "{ name: 't' + n + '.' + i, inputSchema: { type: 'object' } }"
  const many = await fault(pages(`Array.from({ length: 100 }, (_, i) => (${tool}))`))
  expect(many.message).toBe('MCP server small: tools/list: it lists more than 5000 tools')
  const wrong = await fault(pages('Array(1000).fill(7)'))
  expect(wrong.message).toBe('MCP server small: tools/list: it lists more than 5000 tools')
  const same = await fault(pages('[]', '(n + 1) % 3'))
  expect(same.message).toBe('MCP server small: tools/list: it gives the same page twice')
  const long = await fault(pages('[]', "String(n + 1).padStart(10_001, '0')"))
  expect(long.message).toBe('MCP server small: tools/list: it gives a cursor of more than 10000 characters')
})

test('names that nobody could read are left out, under what can be shown of them', async () => {
  const names = ['good', 'a\u001B[2J', 'b\nc', '\u202Ed', 'x'.repeat(129), 'y'.repeat(128)]
  const tools = names.map((name) => ({ name, inputSchema: { type: 'object' } }))
  const odd = { name: '\u001B]0;title\u0007', inputSchema: { type: 'z'.repeat(5000) } }
  const list = `{ result: { tools: ${JSON.stringify([...tools, odd])} } }`
  const connection = await connectServer(program({ initialize, 'tools/list': list }))
  onTestFinished(() => connection.close())
  expect(connection.specs.map(({ name }) => name)).toEqual(['good', 'y'.repeat(128)])
  const unseen = 'its name has characters that cannot be seen'
  expect(connection.unusable).toEqual([
    {
      name: String.raw`\u001b]0;title\u0007`,
      reason: '"inputSchema.type" must be "object", and is something else',
    },
    { name: String.raw`a\u001b[2J`, reason: unseen },
    { name: String.raw`b\u000ac`, reason: unseen },
    { name: String.raw`\u202ed`, reason: unseen },
    {
      name: `${'x'.repeat(64)}... (129 characters)`,
      reason: 'its name has 129 characters, and MCP allows 128',
    },
  ])
})

test('a server that does not answer at the beginning is given up, and the error says how to wait longer', async () => {
  const quiet = {
    name: 'silent',
    command: process.execPath,
    args: ['-e', 'setInterval(() => {}, 1000)'],
  }
  const error = await fault(quiet, { connectSeconds: 0.2 })
  expect(error.message).toBe('MCP server silent: connect: no answer in 0.2 s')
  expect(error.hint).toContain('"connectSeconds"')
  // Ten seconds, and more only where a program may have to be downloaded first.
  expect(defaultConnectSeconds(quiet)).toBe(10)
  expect(defaultConnectSeconds({ url: 'http://127.0.0.1/mcp' })).toBe(10)
  for (const command of ['npx', '/usr/local/bin/uvx', String.raw`C:\nodejs\npx.cmd`, 'docker'])
    expect(defaultConnectSeconds({ command })).toBe(60)
})

test('a server that has ended is noticed although a child of it holds its output', async () => {
  const child = "spawn('sleep', ['60'], { detached: true, stdio: ['ignore', 'inherit', 'inherit'] })"
  const leave = `(setTimeout(() => process.exit(0), 20), require('node:child_process').${child}.unref())`
  const list = "{ result: { tools: [{ name: 'last', inputSchema: { type: 'object' } }] } }"
  const answers = { initialize, 'tools/list': list, 'tools/call': `(${leave}, { id: 0 })` }
  const connection = await connectServer(program(answers), { callSeconds: 30 })
  onTestFinished(() => connection.close())
  expect(connection.healthy()).toBe(true)
  const call = connection.call('last', {})
  await expect(call).rejects.toThrow(/^MCP server small: last: .*the process ended with exit code 0/)
  expect(connection.healthy()).toBe(false)
})

test.skipIf(process.platform === 'win32')(
  'a server that ends before it is asked anything: its exit code and last words are said',
  async () => {
    const error = await fault({
      name: 'gone',
      command: 'sh',
      args: ['-c', 'exec 0<&-; echo no licence >&2; exit 3'],
    })
    expect(error.message).toMatch(/^MCP server gone: connect: .*exit code 3.*its last words: no licence$/)
  },
)
