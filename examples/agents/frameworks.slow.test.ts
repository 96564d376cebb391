import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const run = promisify(execFile)
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** Each example folder, and its section of the guide. */
const frameworks = [
  { folder: 'ai-sdk-agent', section: 'AI SDK 6' },
  { folder: 'ai-sdk-7', section: 'AI SDK 7' },
  { folder: 'openai-agents', section: 'OpenAI Agents SDK' },
  { folder: 'mastra', section: 'Mastra' },
  { folder: 'langgraph', section: 'LangGraph.js' },
]

/** Leaves out what has to be installed, for machines without the npm registry. */
const isOffline = process.env['AGOGE_OFFLINE'] === '1'
const needsPackages = (folder: string): boolean => existsSync(at(`${folder}/package.json`))

/** Runs npm without the settings that a test runner or an npm script passes on. */
async function npm(args: string[], cwd: string): Promise<void> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)))
  const quiet = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
  try {
    await run('npm', [...args, ...quiet], { cwd, env })
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string }
    throw new Error(
      `npm ${args.join(' ')} failed. These tests need the npm registry; AGOGE_OFFLINE=1 leaves them out.\n${stderr}`,
      { cause: error },
    )
  }
}

/** A Node that the frameworks accept and that reads TypeScript: this one, or one from npm. */
let node = process.execPath
beforeAll(async () => {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > 22 || (major === 22 && minor >= 18) || isOffline) return
  const folder = mkdtempSync(join(tmpdir(), 'agoge-node-'))
  const system = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  await npm(['install', `node-${system}@24.9.0`, '--no-save'], folder)
  node = join(folder, 'node_modules', `node-${system}`, 'bin', 'node')
  return () => rmSync(folder, { recursive: true, force: true })
})

/** Copies an example, with its packages and with this Agoge. */
async function copyExample(folder: string, copy: string): Promise<void> {
  cpSync(at(folder), copy, { recursive: true, filter: (path) => !path.includes('node_modules') })
  if (needsPackages(folder)) {
    await npm(['ci'], copy)
    symlinkSync(at('../..'), join(copy, 'node_modules/agoge'))
  }
}

/** What a section of the guide shows: what was changed in the agent, and code of the config. */
function readSection(section: string): { hunks: { old: string; changed: string }[]; code: string } {
  const guide = readFileSync(at('../../docs/guides/frameworks.md'), 'utf8')
  const [, found] = guide.split(`\n## ${section}\n`)
  expect(found, `the section "${section}" of the guide`).toBeDefined()
  const [text] = found.split('\n## ')
  const [, diff = ''] = /```diff\n([^]*?)```/.exec(text) ?? []
  const [, code = ''] = /```js\n([^]*?)```/.exec(text) ?? []
  const plain = (lines: string): string => lines.replaceAll(/^[-+]/gm, '')
  const hunks = [...diff.matchAll(/((?:^-.*\n)*)((?:^\+.*\n)+)/gm)]
  return { hunks: hunks.map(([, old, changed]) => ({ old: plain(old), changed: plain(changed) })), code }
}

interface Report {
  models: {
    masked: number
    success: { mean: number }
    kinds: object
    modelCalls: number
    toolCalls: number
  }[]
  records: { cost: { tokens: number } }[]
}

describe.each(frameworks)('$section', ({ folder, section }) => {
  const isInstalled = needsPackages(folder)
  const check = test.skipIf(isOffline && isInstalled)
  // Beside the original, so that the model and the tasks are found.
  const copy = at(`copy-of-${folder}-${process.pid}`)
  let program: string
  beforeAll(async () => {
    program = isInstalled ? node : process.execPath
    await copyExample(folder, copy)
  })
  afterAll(() => rmSync(copy, { recursive: true, force: true }))

  check('at most five lines of the agent changed, and its types are right before and after', async () => {
    const { hunks, code } = readSection(section)
    const count = (lines: string[]): number => lines.join('').split('\n').length - 1
    expect(count(hunks.map(({ old }) => old))).toBeLessThanOrEqual(5)
    expect(count(hunks.map(({ changed }) => changed))).toBeLessThanOrEqual(5)
    let before = readFileSync(join(copy, 'agent.ts'), 'utf8')
    for (const { old, changed } of hunks) {
      expect(before.split(changed), changed).toHaveLength(2)
      before = before.replace(changed, old)
    }
    expect(before).toContain('gpt-5-mini')
    writeFileSync(join(copy, 'before.ts'), before)
    const settings = {
      extends: at('../../tsconfig.json'),
      // As a user has it: the built package, and what `strict` means.
      compilerOptions: { customConditions: [], exactOptionalPropertyTypes: false },
      include: ['*.ts'],
      exclude: [],
    }
    writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify(settings))
    const { stdout } = await run(process.execPath, [at('../../node_modules/typescript/bin/tsc'), '-p', copy])
    expect(stdout).toBe('')
    // The guide shows the config as it is.
    expect(code).not.toBe('')
    expect(readFileSync(join(copy, 'agoge.config.ts'), 'utf8')).toContain(code)
  })

  for (const config of ['agoge.config.ts', 'stream.config.ts']) {
    check(`${config}: every kind of task is evaluated, calls and tokens are counted`, async () => {
      const report = join(copy, `${config}.json`)
      const settings = ['eval', '-c', config, '--out', join(copy, `${config}-out`), '--json', report]
      await run(program, [at('../../dist/cli/main.js'), ...settings], { cwd: copy })
      const { models, records } = JSON.parse(readFileSync(report, 'utf8')) as Report
      const [{ masked, success, kinds, modelCalls, toolCalls }] = models
      expect(Object.keys(kinds).toSorted()).toEqual(['choose', 'guests', 'sum', 'weather'])
      expect([records.length, masked]).toEqual([24, 0])
      expect(success.mean).toBeGreaterThan(0.5)
      expect(modelCalls).toBeGreaterThan(1.5)
      expect(toolCalls).toBeGreaterThan(0.5)
      for (const { cost } of records) expect(cost.tokens).toBeGreaterThan(10)
    })

    check(
      `${config}: faults mask, mistakes of the model fail, and the agent ends when it is told to`,
      async () => {
        const reads = isInstalled ? [] : ['--import', 'tsx']
        const { stdout } = await run(program, [...reads, at('testing/check-agent.ts'), config], { cwd: copy })
        const faults = {
          answers: { status: 'ok', success: true, calls: 1, requests: 1 },
          'uses a tool': { status: 'ok', success: true, calls: 2, requests: 2 },
          // Agoge tries again once. More requests would be those of the framework.
          'fails at once': {
            status: 'masked',
            success: null,
            calls: 0,
            requests: 2,
            error: 'HTTP 500: status 500',
          },
          'fails after a tool': {
            status: 'masked',
            success: null,
            calls: 1,
            requests: 3,
            error: 'HTTP 500: status 500',
          },
        }
        const isStream = config === 'stream.config.ts'
        const lost = {
          status: 'masked',
          success: null,
          calls: 0,
          requests: 1,
          error: 'the connection was lost',
        }
        const found = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { mistakes: object }
        expect(found).toEqual({
          faults,
          hidden: faults,
          brokenOff: { answers: isStream ? lost : faults.answers },
          mistakes: expect.any(Object),
          deadline: { ended: 'masked: deadline', isRepeated: false },
          aborted: { ended: 'stopped by hand', isRepeated: false },
        })
        const mistake = { status: expect.stringMatching(/^(ok|failed)$/), success: false }
        expect(found.mistakes).toMatchObject({
          'unknown tool': mistake,
          'wrong arguments': mistake,
          'never ends': mistake,
          'too long': { ...mistake, requests: 1 },
        })
      },
    )
  }
})
