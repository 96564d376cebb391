import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { baseModelFolder } from '../language/base-model-folder.ts'

const main = fileURLToPath(new URL('main.ts', import.meta.url))
const loader = import.meta.resolve('tsx')

interface ChatRequest {
  messages: { role: string; content: string | null }[]
}

/** An endpoint whose model writes one file for each request, then says done; `heard` is what its calls came to. */
async function serve(): Promise<{ model: string; heard: string[]; asked: () => number }> {
  const heard: string[] = []
  let asked = 0
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (data: Buffer) => (body += data.toString()))
    request.on('end', () => {
      asked++
      const { messages } = JSON.parse(body) as ChatRequest
      // This one hangs.
      if (messages.some(({ content }) => content === 'wait')) return
      const last = messages.at(-1)
      if (last?.role === 'tool') heard.push(last.content ?? '')
      const call = { name: 'write_file', arguments: '{"path":"notes.txt","content":"hello"}' }
      const message =
        last?.role === 'tool'
          ? { content: 'I am done.' }
          : { content: null, tool_calls: [{ id: 'x', type: 'function', function: call }] }
      response.setHeader('content-type', 'application/json')
      // A prompt larger than the window of the small model.
      const usage = { prompt_tokens: 3000, completion_tokens: 9 }
      response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', ...message } }], usage }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const model = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1#scripted`
  return { model, heard, asked: () => asked }
}

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-chat-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** `agoge chat` as a process of its own, its input a pipe. */
function chat(cwd: string, ...words: string[]) {
  const child = spawn(
    process.execPath,
    ['--import', loader, '--conditions', 'agoge-source', main, 'chat', ...words],
    { cwd, stdio: 'pipe' },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  const said = { out: '', err: '' }
  child.stdout.on('data', (data: Buffer) => (said.out += data.toString()))
  child.stderr.on('data', (data: Buffer) => (said.err += data.toString()))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const until = (text: string | RegExp): Promise<void> =>
    vi.waitUntil(() => (typeof text === 'string' ? said.err.includes(text) : text.test(said.err)), {
      timeout: 600_000,
    }) as Promise<unknown> as Promise<void>
  return { child, said, ended, until, say: (line: string) => child.stdin.write(`${line}\n`) }
}

function childrenOf(pid: number | undefined): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
  return stdout.split('\n').filter(Boolean).map(Number)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('writes are carried out only after a yes; the end of the input ends it', async () => {
  const { model, heard } = await serve()
  const { said, ended, child } = chat(temporary(), '--model', model)
  // Enter sends the suggestion; then two requests of one's own; then the input ends.
  child.stdin.end(['', 'n', 'write hello', 'yes', 'write it again', ''].join('\n'))
  expect({ code: await ended, ...said }).toMatchObject({ code: 0 })
  expect(heard).toHaveLength(3)
  expect(heard[0]).toBe('error: the user did not allow this call')
  expect(heard[1]).not.toContain('error')
  // Where nobody can be asked any more, nobody allowed it.
  expect(heard[2]).toBe('error: the user did not allow this call')
  expect(said.err.match(/This may change something\. Carry it out\? \[y\/N\]/g)).toHaveLength(3)
  expect(said.err).toContain('write_file({"path":"notes.txt","content":"hello"})')
  expect(said.out).toBe('I am done.\n'.repeat(3))
  expect(said.err).toMatch(/A fresh state\. Try \(Enter sends it\): \S+/)
})

test('it says what the model was trained for, and offers another task in a fresh state', async () => {
  const folder = temporary()
  const run = join(folder, 'run')
  mkdirSync(join(run, 'checkpoints'), { recursive: true })
  cpSync(baseModelFolder, join(run, 'checkpoints', 'final'), { recursive: true })
  const introduction = async (world: string): Promise<string> => {
    writeFileSync(join(run, 'config.json'), JSON.stringify({ schema: 1, world }))
    const { said, ended, child } = chat(folder, '--model', run)
    child.stdin.end('/new\n/quit\n')
    expect(await ended).toBe(0)
    expect(said.err.match(/A fresh state\. Try/g)).toHaveLength(2)
    return said.err
  }
  const own = await introduction('filesystem')
  expect(own).toMatch(/knows only what it was trained for\.[\s\S]*read, write, [\s\S]*if-exists/)
  const other = await introduction('mcp:memory')
  expect(other).toContain('trained on mcp:memory, not on filesystem')
  expect(other).not.toContain('knows only what it was trained for')
})

test.skipIf(process.platform === 'win32')('Ctrl-C ends it at once and leaves no process behind', async () => {
  const { model, asked } = await serve()
  for (const waitFor of ['a request', 'the endpoint', 'a yes']) {
    const { child, said, ended, until, say } = chat(temporary(), '--model', model)
    await until('Try (Enter sends it)')
    const before = asked()
    if (waitFor === 'the endpoint') {
      say('wait')
      await vi.waitUntil(() => asked() > before, { timeout: 600_000 })
    }
    if (waitFor === 'a yes') {
      say('write hello')
      await until('Carry it out?')
    }
    const servers = childrenOf(child.pid)
    expect(servers.length).toBeGreaterThan(0)
    child.kill('SIGINT')
    expect({ waitFor, code: await ended, err: said.err }).toMatchObject({ waitFor, code: 130 })
    await expect.poll(() => servers.filter(isAlive), { timeout: 120_000 }).toEqual([])
  }
})
