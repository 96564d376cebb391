import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { readEpisodes } from '../../llm/episode/codec.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

test(
  'agoge gateway: Ctrl-C writes the open sessions, and a folder has one gateway',
  { timeout: 120_000 },
  async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'agoge-gateway-'))
    const start = (...options: string[]) =>
      spawn(process.execPath, [join(root, 'dist/cli/main.js'), 'gateway', ...options, '--port', '0'], { cwd })
    const gateway = start('--model', join(root, 'models/base'), '--out', 'kept')
    let said = ''
    gateway.stderr.on('data', (part: Buffer) => (said += part.toString()))
    const [first] = (await once(gateway.stdout, 'data')) as [Buffer]
    const url = first.toString().trim()
    const client = new OpenAI({ baseURL: url, apiKey: 'session-one' })
    const asked = { model: 'any', messages: [{ role: 'user' as const, content: 'Hello' }] }
    await client.chat.completions.create({ ...asked, max_completion_tokens: 8 })
    const anthropic = new Anthropic({ baseURL: url.replace(/\/v1$/, ''), apiKey: 'session-one' })
    await anthropic.messages.create({ ...asked, max_tokens: 8 })
    const second = start('--upstream', 'http://127.0.0.1:9', '--out', 'kept')
    expect(await once(second, 'exit')).toEqual([1, null])
    gateway.kill('SIGINT')
    await once(gateway, 'exit')
    expect(said).toContain('one/0: 2 calls, ok')
    const [episode] = readEpisodes(join(cwd, 'kept', 'episodes.jsonl'))
    expect(episode.samples).toHaveLength(2)
    expect(readFileSync(join(cwd, 'kept', 'episodes.jsonl'), 'utf8')).not.toContain('session-one')
    expect(readdirSync(cwd)).toEqual(['kept'])
  },
)

test.each([
  [[], 'nothing to stand in front of'],
  [['--upstream', 'file:///etc'], '--upstream https://HOST/v1'],
  [['--token-ids', '--model', 'x'], '--token-ids'],
  [['--upstream', 'https://x.example', '--host', '0.0.0.0'], 'without a key'],
])('agoge gateway %j is refused', { timeout: 60_000 }, async (options, reason) => {
  const cwd = mkdtempSync(join(tmpdir(), 'agoge-gateway-'))
  const child = spawn(process.execPath, [join(root, 'dist/cli/main.js'), 'gateway', ...options], { cwd })
  let said = ''
  child.stderr.on('data', (part: Buffer) => (said += part.toString()))
  expect(await once(child, 'exit')).toEqual([1, null])
  expect(said).toContain(reason)
})
