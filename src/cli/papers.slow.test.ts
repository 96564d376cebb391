import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { agoge } from './testing/agoge.ts'

const folder = mkdtempSync(join(tmpdir(), 'agoge-papers-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('papers are listed with theme and verdict', async () => {
  const { code, out } = await agoge('papers', 'list', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(out)).toContainEqual(expect.objectContaining({ id: 'carl', theme: 'contextual' }))
  const text = await agoge('papers', 'list')
  expect(text.out).toMatch(/paper +theme +verdict/)
})

test('a quick run keeps nothing: it is not resumed', async () => {
  const { code, err } = await agoge('papers', 'run', 'policy-cliff', '--quick', '--resume')
  expect(code).not.toBe(0)
  expect(err).toContain('--quick and --resume')
})

test('a quick run says what it is, and leaves no result', async () => {
  const { code, out, err } = await agoge('papers', 'run', 'policy-cliff', '--quick', '--workers', '2')
  expect(err).toContain('regularised  seed 101')
  expect(out).toMatch(/^argmax +0\.5 +optimality 1$/m)
  expect(out).toContain('a quick run')
  expect(out).not.toMatch(/verdict|\.json/)
  expect(code).toBe(0)
})

test('the help of plan names its options', async () => {
  const { code, out } = await agoge('papers', 'plan', '--help')
  expect(code).toBe(0)
  expect(out).toMatch(/--pilot-seeds <n>[\s\S]+--most <n>[\s\S]+--minutes <n>/)
})

test('an unknown paper is an error, with the one that was meant', async () => {
  const { code, err } = await agoge('papers', 'run', 'crl')
  expect(code).not.toBe(0)
  expect(err).toContain('no paper named "crl"')
  expect(err).toContain('Did you mean "carl"?')
})

test('the gallery is one file', async () => {
  const to = join(folder, 'gallery.html')
  const { code, out } = await agoge('papers', 'report', '--out', to)
  expect(code).toBe(0)
  expect(out).toContain(to)
  expect(readFileSync(to, 'utf8')).toContain('<h1>Papers</h1>')
})
