import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import type { ModelsReport } from '../../llm/training/evaluate-models.ts'
import { openMcpEnvironment } from '../../llm/environment/mcp/open-mcp-environment.ts'
import type { McpTask } from '../../llm/environment/mcp/mcp-task.ts'
import { runCli } from '../run-cli.ts'

const shelf = fileURLToPath(new URL('../../llm/environment/mcp/fixtures/shelf-server.mjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'agoge-eval-'))
const file = join(folder, 'mcp.json')
const key = 'sk-5ecret0fTheTest'
const count = 12
let tasks: readonly McpTask[] = []

afterAll(() => rmSync(folder, { recursive: true, force: true }))

beforeAll(async () => {
  const env = { SHELF_TOOLS: 'put_item find_item list_items', SHELF_FILE: '{slot}/shelf' }
  writeFileSync(
    file,
    JSON.stringify({
      mcpServers: { shelf: { command: process.execPath, args: [shelf], env } },
      agoge: { shelf: { reset: { files: ['shelf'] }, observe: ['list_items'] } },
    }),
  )
  // The same seed makes the same tasks: so the endpoint below knows how each is done.
  const environment = await openMcpEnvironment('shelf', { file, sandbox: true })
  const counts = { train: 0, validation: 0, test: count, 'unseen-paraphrase': 0 }
  tasks = (await environment.prepareTasks({ seed: 0, counts })).tasks.all('test')
  await environment.close()
})

interface ChatRequest {
  model: string
  messages: { role: string; content: string | null }[]
}

/**
 * An OpenAI-compatible endpoint. "good" does every task, "half" every second one, "refused" is told that its key is wrong. The task at
 * `down` is never answered for "half"; the faults come once each, before anything is answered.
 */
async function serve(faults: ((response: ServerResponse) => void)[] = [], down = -1): Promise<string> {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (data: Buffer) => (body += data.toString()))
    request.on('end', () => {
      const fault = faults.shift()
      if (fault !== undefined) return fault(response)
      const { model, messages, ...settings } = JSON.parse(body) as ChatRequest
      if (model === 'reasoning') {
        const param = ['temperature', 'top_p', 'max_tokens', 'seed'].find((name) => name in settings)
        if (param !== undefined) {
          const error = { message: `Unsupported parameter: '${param}'`, param, code: 'unsupported_parameter' }
          return response.writeHead(400).end(JSON.stringify({ error }))
        }
      }
      const prompt = messages.find(({ role }) => role === 'user')?.content
      const at = tasks.findIndex((task) => task.prompt === prompt)
      const { authorization } = request.headers
      if (authorization !== `Bearer ${key}` || model === 'refused')
        return response.writeHead(401).end(`wrong key ${authorization}`)
      if (at < 0) return response.writeHead(404).end('no such task')
      if (model === 'half' && at === down)
        return response.writeHead(503, { 'retry-after': '0' }).end(`out of order for ${key}`)
      const results = messages
        .filter(({ role }) => role === 'tool')
        .map(({ content }) => ({ text: content ?? '', isError: false }))
      const move = model === 'half' && at % 2 === 1 ? { answer: 'no idea' } : tasks[at].plan(results)
      const call = 'call' in move ? { ...move.call, arguments: JSON.stringify(move.call.arguments) } : null
      const message =
        'answer' in move
          ? { content: move.answer }
          : { content: null, tool_calls: [{ id: 'x', type: 'function', function: call }] }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', ...message } }] }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

async function evaluate(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  vi.stubEnv('KEY_OF_THE_TEST', key)
  onTestFinished(() => void vi.unstubAllEnvs())
  let [out, err] = ['', '']
  const write = (text: string): void => {
    err += text
  }
  const common = ['--mcp-config', file, '--sandbox', '--yes', '--tasks', String(count)]
  const code = await runCli(['eval', 'mcp:shelf', ...common, '--api-key-env', 'KEY_OF_THE_TEST', ...words], {
    out: (text) => {
      out += `${text}\n`
    },
    err: (text) => write(`${text}\n`),
    progress: { write },
    signal: new AbortController().signal,
    debug: false,
  })
  for (const text of [out, err]) expect(text).not.toContain(key)
  return { code, out, err }
}

test('two models: rates by kind and tool with intervals, faults tried again, one task out of order', async () => {
  const faults = [
    (response: ServerResponse) => response.writeHead(429, { 'retry-after': '0' }).end('slow down'),
    (response: ServerResponse) => response.writeHead(500).end('oops'),
    (response: ServerResponse) => response.writeHead(200).end('<html>not what you asked for'),
    // Nothing: this one hangs until its time is up.
    () => {},
  ]
  const waiting = [...faults]
  const url = await serve(waiting, 4)
  const json = join(folder, 'out', 'report.json')
  const models = ['--model', `${url}#good`, '--model', `${url}#half`]
  const { code, out, err } = await evaluate(...models, '--timeout', '20', '--json', json)
  expect({ code, err }).toMatchObject({ code: 0 })
  expect(waiting).toEqual([])

  const interval = String.raw`\d+% \[\d+%, \d+%\]`
  expect(out).toMatch(/^mcp:shelf +good +half$/m)
  expect(out).toMatch(/^success +100% \[7\d%, 100%\] +45% \[/m)
  for (const kind of ['put_item', 'find_item', 'list_items']) {
    // Single calls of the tool, or several in a row.
    expect(out).toMatch(new RegExp(`^${kind}(?:\\+${kind})* +100% \\[\\d+%, 100%\\] +(${interval}|-)$`, 'm'))
    expect(out).toMatch(new RegExp(`^tool ${kind} +100% \\[\\d+%, 100%\\] +${interval}$`, 'm'))
  }
  expect(out).toMatch(/^judged +12 +11$/m)
  expect(out).toMatch(/^masked +0 +1$/m)
  // Of the eleven that both were judged on, six were done by one alone.
  expect(out).toMatch(/^half less good, paired over 11 tasks: -54\.5 points \(-\d+\.\d to -?\d+\.\d\)$/m)
  expect(err).toMatch(/^half: 1 of 12 episodes were masked.*answered 503: out of order for \[redacted\]/m)

  const text = readFileSync(json, 'utf8')
  const report = JSON.parse(text) as ModelsReport
  expect(report.models.map(({ name, success, masked }) => [name, success.n, masked])).toEqual([
    ['good', 12, 0],
    ['half', 11, 1],
  ])
  expect(text).not.toContain(key)
})

test('a model that refuses settings: none is sent unasked, and those asked for are given up once', async () => {
  const url = await serve()
  const plain = await evaluate('--model', `${url}#reasoning`)
  expect(plain).toMatchObject({ code: 0, out: expect.stringMatching(/^judged +12$/m) })
  expect(plain.err).not.toContain('refused')
  const asked = await evaluate('--model', `${url}#reasoning`, '--temperature', '0', '--seed', '0')
  expect(asked).toMatchObject({ code: 0, out: expect.stringMatching(/^judged +12$/m) })
  expect(
    asked.err.match(/^reasoning: "temperature" is no longer sent, since the model refused it/gm),
  ).toHaveLength(1)
  expect(asked.err.match(/refused it/g)).toHaveLength(2)
})

test('a threshold that one misses is code 2, one that is met is code 0', async () => {
  const url = await serve()
  expect(await evaluate('--model', `${url}#good`, '--threshold', '0.9')).toMatchObject({ code: 0 })
  const { code, err } = await evaluate('--model', `${url}#half`, '--threshold', '90%')
  expect(code).toBe(2)
  expect(err).toContain('half: 50% is below the threshold of 90%')
})

test('one model at two addresses is kept apart', async () => {
  const [one, two] = [await serve(), await serve()]
  const { code, out } = await evaluate('--model', `${one}#good`, '--model', `${two}#good`)
  expect(code).toBe(0)
  expect(out).toContain(`${two}#good less ${one}#good, paired over 12 tasks: +0.0 points`)
})

test('a wrong key, and an endpoint that is gone, are code 1', async () => {
  const url = await serve()
  const refused = await evaluate('--model', `${url}#refused`)
  expect(refused.code).toBe(1)
  expect(refused.err).toMatch(/refused the request \(HTTP 401\)[\s\S]*wrong key Bearer \[redacted\]/)
  expect(refused.err).toContain('KEY_OF_THE_TEST')

  const broken = (response: ServerResponse): unknown =>
    response.writeHead(503, { 'retry-after': '0' }).end('gone')
  const gone = await evaluate('--model', `${await serve(Array.from({ length: 500 }, () => broken))}#good`)
  expect(gone.code).toBe(1)
  expect(gone.err).toMatch(/good: 12 of 12 episodes were masked.*answered 503: gone/)
  expect(gone.err).toContain('good: no episode could be judged, so nothing was measured')
})
