import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)

test('the example cartpole runs to its end and reports the return', async () => {
  const script = fileURLToPath(new URL('cartpole.ts', import.meta.url))
  const { stdout } = await run(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), '--conditions', 'agoge-source', script],
    { cwd: mkdtempSync(join(tmpdir(), 'agoge-example-')), env: { ...process.env, STEPS: '512' } },
  )
  expect(stdout).toMatch(/^mean return \d+\.\d after \d+\.\d s of training$/m)
})

test.each(['train-on-server', 'own-tools', 'judge-reward', 'group-reward'])(
  'the example %s runs to its end and reports every stage',
  async (name) => {
    const script = fileURLToPath(new URL(`${name}.ts`, import.meta.url))
    const { stdout } = await run(
      process.execPath,
      ['--import', import.meta.resolve('tsx'), '--conditions', 'agoge-source', script],
      { cwd: mkdtempSync(join(tmpdir(), 'agoge-example-')), env: { ...process.env, STEPS: '1' } },
    )
    for (const stage of ['base', 'warm-start', 'rl'])
      expect(stdout).toMatch(new RegExp(`^${stage}: \\d+%$`, 'm'))
  },
)

test('the example agent-sdk learns from a few demonstrations and steps, and shows its curve', async () => {
  const script = fileURLToPath(new URL('agent-sdk.ts', import.meta.url))
  const { stdout } = await run(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), '--conditions', 'agoge-source', script],
    { cwd: mkdtempSync(join(tmpdir(), 'agoge-example-')), env: { ...process.env, STEPS: '3' } },
  )
  expect(stdout).toMatch(/^after demonstrations: \d+ of 60$/m)
  expect(stdout.match(/^step \d: #* \d\.\d\d$/gm)?.length).toBe(3)
  expect(stdout).toMatch(/^after reinforcement: \d+ of 60$/m)
})
