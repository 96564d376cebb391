import { expect, test } from 'vitest'
import { reachesOthers } from './reach.ts'

test('servers that seem to reach other hosts are named with what shows it', () => {
  const command = (args: string[], env: Record<string, string> = {}) =>
    reachesOthers({ command: 'server', args, env })
  expect(reachesOthers({ url: 'https://example.org/mcp' })).toContain('over HTTP (example.org)')
  expect(command(['postgresql://user:secret@db.example.org:5432/x'])).toContain('the host db.example.org')
  expect(command([], { DB_HOST: 'db.example.org' })).toContain('DB_HOST names the host')
  expect(command([], { API_URL: 'https://example.org/v1' })).toContain('API_URL')
  expect(command([], { GITHUB_TOKEN: 'x' })).toContain('the key of an account')
  for (const here of ['redis://localhost:6379', 'http://127.0.0.1:80/a', 'postgresql://a@{host}/b', './data'])
    expect(command([here])).toBeUndefined()
  expect(
    command([], { DB_HOST: 'localhost', MEMORY_FILE_PATH: '/tmp/a.json', LEVEL: 'debug' }),
  ).toBeUndefined()
})
