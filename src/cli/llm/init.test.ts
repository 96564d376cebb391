import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import type { LineReader } from './line-reader.ts'
import { runInit } from './init.ts'

const run = promisify(execFile)

/** A folder in which this package is installed, and nothing else. */
function project(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-init-'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(resolve('.'), join(folder, 'node_modules', 'agoge'))
  return folder
}

test('what agoge init writes runs at once', async () => {
  const cwd = project()
  const agoge = (...words: string[]) =>
    run(process.execPath, [resolve('dist/cli/main.js'), ...words], { cwd })
  const { stdout } = await agoge('init', '--yes')
  const config = ['agoge.config.ts', 'agoge.config.mjs'].find((name) => existsSync(join(cwd, name))) ?? ''
  expect(stdout).toContain(`wrote ${config} and tasks.jsonl; now: npx agoge eval`)
  const evaluated = await agoge('eval', '--trials', '1')
  expect(evaluated.stdout).toMatch(/3 tasks x 1 [\s\S]*success +\d+%[\s\S]*masked trials +0/)
  await expect(agoge('init', '--yes')).rejects.toMatchObject({
    stderr: expect.stringContaining(`there is a ${config} here already`) as string,
  })
})

test('the answers of the questions are in the config', async () => {
  const before = process.cwd()
  process.chdir(mkdtempSync(join(tmpdir(), 'agoge-init-')))
  onTestFinished(() => process.chdir(before))
  const said = ["openai/gpt-5-mini, me/it's", 'my/tasks.jsonl', 'code', 'many', '5', '0']
  const asked: string[] = []
  const reader: LineReader = {
    interactive: true,
    ask: (question) => {
      asked.push(question)
      return Promise.resolve(said.shift() ?? null)
    },
    confirm: () => Promise.resolve(false),
    close: () => {},
  }
  mkdirSync('my')
  const out: string[] = []
  const terminal = {
    out: (text: string) => out.push(text),
    err: () => {},
    progress: { write: () => {} },
    signal: new AbortController().signal,
    debug: false,
  }
  await runInit({}, terminal, reader)
  // "many" is no number of trials, so that question was asked twice.
  expect([asked.length, said.length]).toEqual([6, 0])
  const config = readFileSync('agoge.config.mjs', 'utf8')
  expect(config).toContain(String.raw`models: ['openai/gpt-5-mini', 'me/it\'s'],`)
  expect(config).toContain("tasks: './my/tasks.jsonl',")
  expect(config).toContain('score: ({ given, output }) =>')
  expect(config).toContain('trials: 5,')
  expect(config).not.toContain('budget')
  expect(out.join('\n')).toContain('npm i ai')
})
