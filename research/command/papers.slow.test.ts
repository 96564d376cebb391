import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgogeError } from 'agoge'
import { afterAll, expect, test } from 'vitest'
import { writeWhole } from '../../src/runs/files.ts'
import { keepLines } from '../../src/runs/kept-lines.ts'
import type { Terminal } from './papers.ts'
import { listPapers, runPaperCommand } from './papers.ts'

const folder = mkdtempSync(join(tmpdir(), 'agoge-papers-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const broken = join(folder, 'papers')
mkdirSync(broken)
writeFileSync(
  join(broken, 'works.ts'),
  `export default { id: 'works', title: 'Works', theme: 'tests', claim: 'It works.', arms: { one: ({ seed }) => seed, none: () => 0 },
  metric: 'one', seeds: 2, budget: {}, quick: {}, expect: { better: 'one', than: ['none'] } }\n`,
)
writeFileSync(join(broken, 'breaks.ts'), `throw new Error('a paper half written')\n`)
writeFileSync(join(broken, 'misnamed.ts'), `export default { id: 'works' }\n`)

function terminal(): Terminal & { said: { out: string; err: string } } {
  const said = { out: '', err: '' }
  return {
    said,
    out: (text) => (said.out += `${text}\n`),
    err: (text) => (said.err += `${text}\n`),
    signal: new AbortController().signal,
    table: (header, rows) => [header, ...rows].map((row) => row.join('  ')).join('\n'),
    describeError: (error) =>
      error instanceof AgogeError ? `${error.message}\n  given: ${String(error.given)}` : String(error),
    keepLines,
    writeWhole,
    machine: 'the machine of the tests',
  }
}

test('the list names a broken paper and shows the others', async () => {
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

test('a stopped run resumes from the scores that were kept, and has the result of a whole one', async () => {
  const [whole, stopped] = ['whole', 'stopped'].map((name) => join(folder, `${name}.json`))
  const withoutTimes = (file: string): unknown => ({
    ...JSON.parse(readFileSync(file, 'utf8')),
    seconds: {},
    command: '',
  })
  await runPaperCommand({ id: 'works', workers: 1, out: whole, commandLine: '' }, terminal(), broken)
  const stop = new AbortController()
  const first: Terminal = { ...terminal(), signal: stop.signal }
  const command = { id: 'works', workers: 1, out: stopped, commandLine: 'agoge papers run works' }
  const say = first.err
  first.err = (text) => {
    say(text)
    if (text.includes('2 to go')) stop.abort(new Error('stopped here'))
  }
  await expect(runPaperCommand(command, first, broken)).rejects.toThrow('stopped here')
  await expect(runPaperCommand(command, terminal(), broken)).rejects.toMatchObject({ code: 'run-exists' })
  const again = terminal()
  await runPaperCommand({ ...command, resume: true }, again, broken)
  expect(again.said.err).toContain('2 of 4 scores were kept')
  expect(again.said.err.match(/ s, \d to go/g)).toHaveLength(2)
  expect(withoutTimes(stopped)).toEqual(withoutTimes(whole))
  expect(existsSync(join(folder, 'stopped.partial.jsonl'))).toBe(false)
})
