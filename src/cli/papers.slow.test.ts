import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Console } from './console.ts'
import { listPapers, runPaperCommand } from './papers.ts'
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

test('a quick run says what it is, and leaves no result', async () => {
  const { code, out, err } = await agoge('papers', 'run', 'policy-cliff', '--quick', '--workers', '2')
  expect(err).toContain('regularised  seed 1')
  expect(out).toMatch(/P\(regularised beats argmax\) = 1\.00/)
  expect(out).toContain('a quick run')
  expect(out).not.toMatch(/verdict|\.json/)
  expect(code).toBe(0)
})

test('an unknown paper is told, with the one that was meant', async () => {
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

const broken = join(folder, 'papers')
mkdirSync(broken)
writeFileSync(
  join(broken, 'works.ts'),
  `export default { id: 'works', title: 'Works', theme: 'tests', claim: 'It works.', arms: { one: ({ seed }) => seed, none: () => 0 },
  metric: 'one', seeds: 2, budget: {}, quick: {}, expect: { better: 'one', than: ['none'] } }\n`,
)
writeFileSync(join(broken, 'breaks.ts'), `throw new Error('a paper half written')\n`)
writeFileSync(join(broken, 'misnamed.ts'), `export default { id: 'works' }\n`)

function terminal(): Console & { said: { out: string; err: string } } {
  const said = { out: '', err: '' }
  return {
    said,
    out: (text) => (said.out += `${text}\n`),
    err: (text) => (said.err += `${text}\n`),
    progress: { write: () => {} },
    signal: new AbortController().signal,
    debug: false,
  }
}

test('a broken paper is named by the list, and stops no other', async () => {
  const list = terminal()
  await listPapers({}, list, broken)
  expect(list.said.out).toMatch(/^works +tests +not run$/m)
  expect(list.said.out).toMatch(/^breaks +– +cannot be loaded$/m)
  expect(list.said.err).toMatch(/breaks\.ts cannot be loaded\n +given: +Error: a paper half written/)
  expect(list.said.err).toMatch(/misnamed\.ts holds no paper named "misnamed"/)
  const other = terminal()
  await runPaperCommand({ id: 'works', quick: true, workers: 1, commandLine: '' }, other, broken)
  expect(other.said.out).toMatch(/P\(one beats none\) = 1\.00/)
  const command = { id: 'breaks', quick: true, commandLine: '' }
  await expect(runPaperCommand(command, terminal(), broken)).rejects.toMatchObject({ code: 'bad-paper' })
})
