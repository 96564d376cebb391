import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { listServers, readServerConfig, resolveServer, type ServerConfig } from './server-config.ts'

function folderWith(files: Record<string, unknown>): string {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-config-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return folder
}

function read(entry: unknown, environment: Record<string, string> = {}): ServerConfig {
  const folder = folderWith({ '.mcp.json': { mcpServers: { it: entry } } })
  return readServerConfig('it', { folder, environment })
}

test('the configuration of a stdio server is read, with variables and defaults', () => {
  const entry = {
    command: '${BIN:-node}',
    args: ['--key=${KEY}', '${EMPTY:-x}', '$PLAIN'],
    env: { TOKEN: '${env:KEY}-1' },
  }
  expect(read(entry, { KEY: 'k', EMPTY: '' })).toEqual({
    name: 'it',
    expanded: ['k'],
    command: 'node',
    args: ['--key=k', 'x', '$PLAIN'],
    env: { TOKEN: 'k-1' },
  })
})

test('the configuration of an HTTP server is read', () => {
  const entry = {
    type: 'http',
    url: 'https://example.com/${PATH_}',
    headers: { Authorization: 'Bearer ${KEY}' },
  }
  expect(read(entry, { KEY: 'k', PATH_: 'mcp' })).toEqual({
    name: 'it',
    expanded: ['mcp', 'k'],
    url: 'https://example.com/mcp',
    headers: { Authorization: 'Bearer k' },
  })
})

test("VS Code's file, a relative cwd and ${workspaceFolder}", () => {
  const servers = { it: { type: 'stdio', command: 'node', args: ['${workspaceFolder}/s.js'], cwd: '..' } }
  const folder = folderWith({ '.vscode/mcp.json': { servers } })
  expect(readServerConfig('it', { folder })).toEqual({
    name: 'it',
    command: 'node',
    args: [join(folder, 's.js')],
    cwd: folder,
  })
})

test('only the server that is asked for must be complete', () => {
  const mcpServers = { good: { command: 'a' }, bad: { command: '${NOT_SET_ANYWHERE}' } }
  const folder = folderWith({ 'mine.json': { mcpServers } })
  expect(readServerConfig('good', { folder, file: 'mine.json' })).toEqual({ name: 'good', command: 'a' })
  expect(listServers({ folder, file: 'mine.json' })).toEqual({
    file: join(folder, 'mine.json'),
    names: ['good', 'bad'],
  })
  expect(listServers({ folder })).toEqual({ file: undefined, names: [] })
})

test('an unknown name lists the known and the nearest', () => {
  const folder = folderWith({
    '.mcp.json': { mcpServers: { filesystem: { command: 'a' }, github: { command: 'b' } } },
  })
  expect(() => readServerConfig('filesystm', { folder })).toThrow(
    expect.objectContaining({
      code: 'unknown-server',
      given: 'filesystm',
      expected: 'one of filesystem, github',
      hint: expect.stringContaining('"filesystem"'),
    }),
  )
  expect(() => readServerConfig('toString', { folder })).toThrow(/no MCP server named "toString"/)
  expect(() => readServerConfig('a', { folder: folderWith({}) })).toThrow(
    expect.objectContaining({ hint: expect.stringContaining('--mcp-config') }),
  )
})

test('a file that is not JSON: file, line and column', () => {
  const folder = folderWith({ '.mcp.json': '{\n  "mcpServers": {\n    "a": { "command": "x", }\n  }\n}' })
  expect(() => readServerConfig('a', { folder })).toThrow(
    expect.objectContaining({
      message: `${join(folder, '.mcp.json')} is not JSON: line 3, column 28.`,
      given: '"a": { "command": "x", }',
    }),
  )
})

test.each<[unknown, RegExp]>([
  [{}, /neither "command" nor "url"/],
  ['node', /is no object/],
  [{ command: 3 }, /wrong "command"/],
  [{ command: 'a', args: 'b' }, /wrong "args"/],
  [{ command: 'a', args: [1] }, /wrong "args\[0\]"/],
  [{ command: 'a', env: { A: 1 } }, /wrong "env\.A"/],
  [{ url: 'ftp://x' }, /wrong "url"/],
  [{ url: 'http://x', type: 'sse' }, /wrong "type"/],
  [{ command: 'a', args: ['${NOPE}'] }, /needs NOPE, which is not set \(field "args\[0\]"\)/],
])('%j is refused', (entry, message) => {
  expect(() => read(entry)).toThrow(message)
})

test('a missing file and a file without servers', () => {
  const folder = folderWith({ 'other.json': { servers: [] }, 'list.json': [] })
  expect(() => readServerConfig('a', { folder, file: 'none.json' })).toThrow(/none\.json cannot be read/)
  expect(() => readServerConfig('a', { folder, file: 'other.json' })).toThrow(/names no servers/)
  expect(() => readServerConfig('a', { folder, file: 'list.json' })).toThrow(/names no servers/)
})

test('an installed server is started by its own program, wherever one is', () => {
  const { config, source, version } = resolveServer(
    { package: '@modelcontextprotocol/server-memory', version: '1.0.0', env: { A: 'b' } },
    tmpdir(),
  )
  expect({ source, version }).toEqual({ source: 'installed', version: '2026.8.31' })
  expect(config).toMatchObject({ command: process.execPath, env: { A: 'b' } })
  expect(existsSync(config.args?.[0] as string)).toBe(true)
})

test('another one is fetched by npx at the pinned version', () => {
  const server = { package: '@nobody/no-such-server', version: '1.2.3', args: ['/data'] }
  expect(resolveServer(server)).toEqual({
    config: {
      name: '@nobody/no-such-server',
      command: 'npx',
      args: ['-y', '@nobody/no-such-server@1.2.3', '/data'],
    },
    source: 'npx',
    version: '1.2.3',
  })
  expect(resolveServer({ ...server, bin: 'tool' }).config).toMatchObject({
    args: ['-y', '--package', '@nobody/no-such-server@1.2.3', 'tool', '/data'],
  })
})
