import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const run = promisify(execFile)
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

interface Evaluation {
  models: { name: string; success: { mean: number } }[]
  comparisons: { a: string; b: string; low: number; n: number }[]
}

test('the example trains its model, and the gain on tasks that it did not see is clear of zero', async () => {
  // Beside the original, so that its packages and its model are found.
  const folder = mkdtempSync(at('copy-of-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(at('training'), folder, { recursive: true })
  const out = join(folder, 'out')
  const { stdout } = await run(
    process.execPath,
    ['--import', 'tsx', at('../../dist/cli/main.js'), 'train', '--steps', '60', '--out', out],
    { cwd: folder },
  )
  expect(stdout).toMatch(/^success +\d+% \(\d+–\d+\) +\d+% \(\d+–\d+\)$/m)
  expect(stdout).toContain('the trained model is better')
  const evaluation = JSON.parse(
    readFileSync(join(out, 'evaluation', 'evaluation.json'), 'utf8'),
  ) as Evaluation
  expect(evaluation.comparisons).toMatchObject([{ a: 'trained', b: 'before' }])
  expect(evaluation.comparisons[0].low).toBeGreaterThan(0)
}, 600_000)
