import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const run = promisify(execFile)
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

test('the example of the AI SDK is evaluated, with every kind of task', async () => {
  // Beside the original, so that its packages and its model are found.
  const folder = mkdtempSync(at('copy-of-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(at('ai-sdk'), folder, { recursive: true })
  const { stdout } = await run(
    process.execPath,
    [at('../../dist/cli/main.js'), 'eval', '--out', join(folder, 'out')],
    { cwd: folder },
  )
  expect(stdout).toMatch(/success +\d+% \(\d+–\d+\)/)
  for (const kind of ['choose', 'count', 'replace']) expect(stdout).toMatch(new RegExp(`  ${kind} +\\d+%`))
  expect(stdout).toMatch(/masked trials +0/)
})
