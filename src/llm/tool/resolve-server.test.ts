import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { resolveServer } from './resolve-server.ts'

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
