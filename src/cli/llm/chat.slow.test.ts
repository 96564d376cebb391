import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { baseModelFolder } from '../../llm/checkpoint/checkpoint.ts'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))
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
  const running = start(cwd, process.execPath, commandLine(words))
  return { ...running, interrupt: () => running.child.kill('SIGINT') }
}

/** The same on a terminal, which util-linux makes; what it shows comes as `out`. */
function chatOnTerminal(cwd: string, ...words: string[]) {
  const quoted = [process.execPath, ...commandLine(words)].map((word) => `'${word}'`).join(' ')
  const running = start(cwd, 'script', ['-qec', quoted, '/dev/null'])
  // What Ctrl-C types.
  return { ...running, interrupt: () => running.child.stdin.write('\u0003') }
}

const hasTerminals =
  process.platform === 'linux' && spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0

const commandLine = (words: readonly string[]): string[] => [
  '--import',
  loader,
  '--conditions',
  'agoge-source',
  main,
  'chat',
  ...words,
]

function start(cwd: string, command: string, words: readonly string[]) {
  const child = spawn(command, words, { cwd, stdio: 'pipe' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const said = { out: '', err: '' }
  child.stdout.on('data', (data: Buffer) => (said.out += data.toString()))
  child.stderr.on('data', (data: Buffer) => (said.err += data.toString()))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const until = async (text: string): Promise<void> => {
    await vi.waitUntil(() => `${said.out}${said.err}`.includes(text), { timeout: 600_000 })
  }
  return { child, said, ended, until, say: (line: string) => child.stdin.write(`${line}\n`) }
}

/** The processes that a process has started, and theirs. */
function childrenOf(pid: number | undefined): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
  const children = stdout.split('\n').filter(Boolean).map(Number)
  return children.flatMap((child) => [child, ...childrenOf(child)])
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('piped: every line is a request, and calls that may change something need --yes; the end of the input ends it', async () => {
  for (const yes of [false, true]) {
    const { model, heard } = await serve()
    const { said, ended, child } = chat(temporary(), '--model', model, ...(yes ? ['--yes'] : []))
    // Enter sends the suggestion; then two requests of one's own, which read like answers; then the input ends.
    child.stdin.end(['', 'y', 'write it again', ''].join('\n'))
    expect({ code: await ended, ...said }).toMatchObject({ code: 0 })
    expect(heard).toHaveLength(3)
    for (const result of heard)
      if (yes) expect(result).not.toContain('error')
      else expect(result).toBe('error: the user did not allow this call')
    expect(said.err).not.toContain('Carry it out?')
    expect(said.err.match(/not carried out: it may change something \(--yes allows it\)/g)?.length ?? 0).toBe(
      yes ? 0 : 3,
    )
    expect(
      said.err.includes('The input is not a terminal: calls that may change something need --yes.'),
    ).toBe(!yes)
    expect(said.err).toContain('write_file({"path":"notes.txt","content":"hello"})')
    expect(said.out).toBe('I am done.\n'.repeat(3))
    expect(said.err).toMatch(/A fresh state\. Try \(Enter sends it\): \S+/)
  }
})

test.skipIf(!hasTerminals)('on a terminal writes are carried out only after a yes', async () => {
  const { model, heard } = await serve()
  const { said, ended, until, say } = chatOnTerminal(temporary(), '--model', model)
  await until('Try (Enter sends it)')
  for (const [at, reply] of ['n', 'yes'].entries()) {
    say('write hello')
    await vi.waitUntil(() => said.out.split('Carry it out?').length === at + 2, { timeout: 600_000 })
    say(reply)
    await vi.waitUntil(() => said.out.split('I am done.').length === at + 2, { timeout: 600_000 })
  }
  say('/quit')
  expect({ code: await ended, ...said }).toMatchObject({ code: 0 })
  expect(heard).toEqual(['error: the user did not allow this call', expect.not.stringContaining('error')])
})

test('it says what the model was trained for, and offers another task in a fresh state', async () => {
  const folder = temporary()
  const run = join(folder, 'run')
  mkdirSync(join(run, 'checkpoints'), { recursive: true })
  cpSync(baseModelFolder, join(run, 'checkpoints', 'final'), { recursive: true })
  const introduction = async (environment: string): Promise<string> => {
    writeFileSync(join(run, 'config.json'), JSON.stringify({ schema: 1, environment }))
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
  for (const waitFor of ['a request', 'the endpoint', ...(hasTerminals ? ['a yes'] : [])]) {
    const begin = waitFor === 'a yes' ? chatOnTerminal : chat
    const { child, said, ended, until, say, interrupt } = begin(temporary(), '--model', model)
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
    interrupt()
    expect({ waitFor, code: await ended, err: said.err }).toMatchObject({ waitFor, code: 130 })
    await expect.poll(() => servers.filter(isAlive), { timeout: 120_000 }).toEqual([])
  }
})
