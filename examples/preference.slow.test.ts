import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)

test.each([
  ['preferences', /^loss: 0\.693 -> 0\.\d+\nheld-out pairs in the right order: \d+%$/m],
  ['distillation', /^divergence a token: \d\.\d\d -> -?\d\.\d\d$/m],
])('the example %s runs to its end and reports what it learnt', async (name, expected) => {
  const script = fileURLToPath(new URL(`${name}.ts`, import.meta.url))
  const { stdout } = await run(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), '--conditions', 'agoge-source', script],
    { cwd: mkdtempSync(join(tmpdir(), 'agoge-example-')), env: { ...process.env, STEPS: '3' } },
  )
  expect(stdout).toMatch(expected)
})
