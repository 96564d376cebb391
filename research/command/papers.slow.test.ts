import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgogeError } from 'agoge'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeWhole } from '../../src/runs/files.ts'
import { keepLines } from '../../src/runs/kept-lines.ts'
import type { Plan } from '../runner/plan.ts'
import type { PaperResult } from '../runner/result.ts'
import { listPapers, planPaperCommand, runPaperCommand } from './papers.ts'
import type { Terminal } from './terminal.ts'

// Plans and results go beside the papers of the folder in which the command runs.
const root = mkdtempSync(join(tmpdir(), 'agoge-papers-'))
const before = process.cwd()
beforeAll(() => process.chdir(root))
afterAll(() => {
  process.chdir(before)
  rmSync(root, { recursive: true, force: true })
})
const papers = join(root, 'research', 'papers')
mkdirSync(papers, { recursive: true })
const works = join(papers, 'works.ts')
const paperText = `export default { id: 'works', title: 'Works', theme: 'tests', claim: 'It works.',
  arms: { one: ({ seed }) => ({ score: 2 + (seed % 7) / 10, measures: { active: 1 } }), none: ({ seed }) => (seed % 5) / 10 },
  metric: 'points', pairing: 'seed', effect: { better: 'one', than: ['none'], atLeast: 1 }, budget: {}, quick: {},
  checks: [{ about: 'it was active', arm: 'one', of: 'active', atLeast: 1 }, { about: 'not saturated', arm: 'one', of: 'score', atMost: 9 }],
  control: { positive: { better: 'one', than: 'none', atLeast: 1 } } }\n`
writeFileSync(works, paperText)
writeFileSync(join(papers, 'breaks.ts'), `throw new Error('a paper half written')\n`)
writeFileSync(join(papers, 'misnamed.ts'), `export default { id: 'works' }\n`)
writeFileSync(
  join(papers, 'unchecked.ts'),
  `export default { id: 'unchecked', title: '', theme: '', claim: '', arms: {}, effect: { better: 'a', than: ['b'], atLeast: 1 } }\n`,
)

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

const git = (...words: string[]): void => void execFileSync('git', words, { cwd: root, stdio: 'ignore' })
const commit = (): void => {
  git('add', '.')
  git('-c', 'user.name=test', '-c', 'user.email=test@example.com', 'commit', '-m', 'plan')
}
const run = { id: 'works', workers: 1, commandLine: 'agoge papers run works' }
const readPlan = (): Plan => JSON.parse(readFileSync('research/papers/plans/works.json', 'utf8')) as Plan
const readResult = (): PaperResult =>
  JSON.parse(readFileSync('research/papers/results/works.json', 'utf8')) as PaperResult
const plan = (to = terminal()): Promise<void> =>
  planPaperCommand({ id: 'works', workers: 1, commandLine: 'agoge papers plan works' }, to, papers)
const listedAs = async (): Promise<string> => {
  const list = terminal()
  await listPapers({}, list, papers)
  return /^works +tests +(.+)$/m.exec(list.said.out)?.[1] ?? ''
}

test('the list names a broken paper and shows the others', async () => {
  const list = terminal()
  await listPapers({}, list, papers)
  expect(list.said.out).toMatch(/^works +tests +not planned$/m)
  expect(list.said.out).toMatch(/^breaks +– +cannot be loaded$/m)
  expect(list.said.err).toMatch(/breaks\.ts cannot be loaded\n +given: +Error: a paper half written/)
  expect(list.said.err).toMatch(/misnamed\.ts holds no paper named "misnamed"/)
  const other = terminal()
  await runPaperCommand({ ...run, quick: true }, other, papers)
  expect(other.said.out).toMatch(/one +2\.3 +active 1/)
  const command = { id: 'breaks', quick: true, commandLine: '' }
  await expect(runPaperCommand(command, terminal(), papers)).rejects.toMatchObject({ code: 'bad-paper' })
})

test('a paper without check and control cannot be planned', async () => {
  const command = { id: 'unchecked', commandLine: '' }
  await expect(planPaperCommand(command, terminal(), papers)).rejects.toThrow(
    'cannot be planned without checks and control',
  )
})

test('a run needs a plan, of this design and code, that git has', async () => {
  git('init')
  await expect(runPaperCommand(run, terminal(), papers)).rejects.toMatchObject({ code: 'no-plan' })
  const planned = terminal()
  await plan(planned)
  // A design must not be chosen by the scores of the pilot.
  expect(planned.said.err).toMatch(/^one +seed 101 +\(\d/m)
  expect(planned.said.err).not.toMatch(/seed \d+:/)
  expect(planned.said.out).toMatch(/not saturated \(mean of score: not shown; expected: at most 9\)/)
  expect(readPlan()).toMatchObject({
    seeds: { from: 1001, to: 1016 },
    again: { from: 1017, to: 1032 },
    underpowered: null,
    pilot: { seeds: { from: 101, to: 112 } },
  })
  expect(await listedAs()).toBe('planned')
  await expect(runPaperCommand(run, terminal(), papers)).rejects.toMatchObject({ code: 'plan-uncommitted' })
  commit()
  writeFileSync(works, `${paperText}// another\n`)
  await expect(runPaperCommand(run, terminal(), papers)).rejects.toMatchObject({ code: 'plan-changed' })
  writeFileSync(works, paperText)
})

test('a stopped run resumes from the scores that were kept; its seeds are not used again', async () => {
  const stop = new AbortController()
  const first: Terminal = { ...terminal(), signal: stop.signal }
  const say = first.err
  first.err = (text) => {
    say(text)
    if (text.includes('42 to go')) stop.abort(new Error('stopped here'))
  }
  await expect(runPaperCommand(run, first, papers)).rejects.toThrow('stopped here')
  await expect(runPaperCommand(run, terminal(), papers)).rejects.toMatchObject({ code: 'run-exists' })
  const again = terminal()
  await runPaperCommand({ ...run, resume: true }, again, papers)
  expect(again.said.err).toContain('6 scores were kept')
  expect(again.said.err.match(/ s, \d+ to go/g)).toHaveLength(42)
  expect(existsSync('research/papers/results/works.partial.jsonl')).toBe(false)
  const result = readResult()
  expect(result).toMatchObject({ schema: 2, verdict: 'reproduced', seeds: { from: 1001, to: 1016 } })
  expect(result.checks.map(({ kind }) => kind)).toEqual([
    'manipulation',
    'manipulation',
    'positive control',
    'A/A control',
  ])
  expect(result.runs.arms['one'].scores).toEqual(
    Array.from({ length: 16 }, (_, i) => 2 + ((1001 + i) % 7) / 10),
  )
  expect(again.said.out).toContain('verdict: reproduced')
  expect(await listedAs()).toBe('reproduced')
  await expect(runPaperCommand(run, terminal(), papers)).rejects.toMatchObject({ code: 'seeds-used' })
})

test('a new plan takes new seeds, and puts the result of the old one out of date', async () => {
  await plan()
  expect(readPlan().seeds).toEqual({ from: 1033, to: 1048 })
  expect(await listedAs()).toBe('out of date: the result is of another plan')
})
