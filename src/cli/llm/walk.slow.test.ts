import { mkdtempSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const execute = promisify(execFile)

// The walk of the quickstart, with few tasks and steps.
test('one config is evaluated, searched, trained and evaluated again, on the official memory server', async () => {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'agoge-walk-')))
  symlinkSync(resolve('node_modules'), join(cwd, 'node_modules'))
  const server = resolve('node_modules/@modelcontextprotocol/server-memory/dist/index.js')
  const mcpServers = { memory: { command: process.execPath, args: [server] } }
  writeFileSync(join(cwd, '.mcp.json'), JSON.stringify({ mcpServers }))
  const config = (models: string): void =>
    writeFileSync(
      join(cwd, 'agoge.config.mjs'),
      `import { generateText, stepCountIs } from 'ai'
import { baseModelFolder, defineConfig, mcp, mcpTasks, run, taskSolved } from ${JSON.stringify(resolve('dist/index.js'))}
export default defineConfig({
  agent: async (task, { model, tools, signal }) =>
    (await generateText({ model, tools, prompt: task.prompt, temperature: 0, abortSignal: signal, stopWhen: stepCountIs(6) })).text,
  environment: mcp('memory', { sandbox: true }),
  tasks: mcpTasks('memory', { count: 80, sandbox: true }),
  score: taskSolved(),
  models: [${models}],
  maxOutputTokens: 64,
})
`,
    )
  const agoge = async (...words: string[]): Promise<string> => {
    const { stdout } = await execute(process.execPath, [resolve('dist/cli/main.js'), ...words, '--yes'], {
      cwd,
    })
    return stdout
  }
  config('run(baseModelFolder)')
  expect(await agoge('eval')).toMatch(/success +\d+% \(0–\d+\)/)
  expect(await agoge('optimise', '--tokens', '1000000', '--levers', 'test-time')).toMatch(
    /nothing was found that gains on the \d+ selection tasks/,
  )
  const trained = await agoge('train', '--demonstrations', 'tasks', '--steps', '3')
  expect(trained).toMatch(/before +trained/)
  expect(trained).toMatch(/trained less before, paired over \d+ tasks/)
  const [name] = readdirSync(join(cwd, '.agoge', 'runs'))
  config(`run(baseModelFolder), run('${name}')`)
  expect(await agoge('eval')).toContain(`${name} less base, paired over`)
}, 300_000)
