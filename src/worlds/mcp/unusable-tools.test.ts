import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { createMcpWorld } from './mcp-world.ts'
import type { McpWorld } from './mcp-world.ts'

const raw = fileURLToPath(new URL('fixtures/raw-server.mjs', import.meta.url))

async function open(tools: readonly unknown[]): Promise<McpWorld> {
  const server = { command: process.execPath, args: [raw], env: { RAW_TOOLS: JSON.stringify(tools) } }
  const world = await createMcpWorld({ name: 'raw', server })
  onTestFinished(() => world.close())
  return world
}

const annotations = { readOnlyHint: true }
const properties = { text: { type: 'string' } }
const good = {
  name: 'measure',
  annotations,
  inputSchema: { type: 'object', properties, required: ['text'] },
}
const broken = [
  { name: 'untyped', annotations, inputSchema: { properties } },
  { name: 'listed', annotations, inputSchema: { type: 'array' } },
  { name: 'bare', annotations },
  { annotations, inputSchema: { type: 'object' } },
]

test('a tool that is listed wrongly is left out and named with the reason; the others work', async () => {
  const world = await open([...broken, good])
  expect(world.tools.map(({ name }) => name)).toEqual(['measure'])
  expect(world.plan).toContain('tools of "raw"')
  expect(world.plan).toContain('untyped: cannot be used: "inputSchema.type" must be "object", and is missing')
  expect(world.plan).toContain('listed: cannot be used: "inputSchema.type" must be "object", and is "array"')
  expect(world.plan).toContain('bare: cannot be used: it has no "inputSchema"')
  expect(world.plan).toContain('number 4: cannot be used: it has no name')
  const { tasks } = await world.prepareTasks({ seed: 1, counts: { train: 2, test: 2 } })
  expect(tasks.families).toContain('measure')
})

test('where no tool is left the error names the server, the tools and what is wrong with them', async () => {
  await expect(open(broken.slice(0, 2))).rejects.toMatchObject({
    code: 'bad-tool-schema',
    message: 'no tool of the MCP server "raw" can be used',
    given: expect.stringMatching(/untyped: .*missing\nlisted: .*"array"/),
  })
})

test('how long a server may take to start is what its entry says', async () => {
  const server = { name: 'silent', command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] }
  const config = { reset: 'none' as const, observe: [], connectSeconds: 1 }
  await expect(createMcpWorld({ name: 'silent', server, config })).rejects.toThrow(
    'MCP server silent: connect: no answer in 1 s',
  )
})
