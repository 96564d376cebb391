import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const program = `
  const { compile, matmul } = await import('${new URL('../index.ts', import.meta.url).href}')
  const made = await compile({ a: { shape: [2, 2] } }, ({ a }) => ({ b: matmul(a, a) }))
  const { b } = await made.run({ a: { data: Float32Array.of(1, 2, 3, 4), shape: [2, 2] } })
  console.log([...b.data].join(' '), process.env.ORT_DISABLE_TELEMETRY)
`

/** Runs the program with its own home and temporary folder. Returns its output and the files that it left there. */
function leftBehind(setting: Record<string, string>): { said: string; left: string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-telemetry-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const names = ['HOME', 'TMPDIR', 'XDG_CACHE_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME']
  const { CI: _, ORT_RUNNING_UNIT_TESTS: __, ORT_DISABLE_TELEMETRY: ___, ...outer } = process.env
  const env = { ...outer, ...Object.fromEntries(names.map((name) => [name, folder])), ...setting }
  const words = ['--import', 'tsx', '--conditions', 'agoge-source', '--input-type=module', '-e', program]
  const { stdout, stderr, status } = spawnSync(process.execPath, words, { env, encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(status).toBe(0)
  const left = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return { said: stdout.trim(), left: left.filter((name) => !name.startsWith('tsx')) }
}

test('ONNX Runtime reports nothing and leaves nothing behind, unless the environment says otherwise', () => {
  expect(leftBehind({})).toEqual({ said: '7 10 15 22 1', left: [] })
  expect(leftBehind({ ORT_DISABLE_TELEMETRY: 'true' })).toEqual({ said: '7 10 15 22 true', left: [] })
})
