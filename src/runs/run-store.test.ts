import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { checksumsFile, sha256, withChecksum, writeChecksums } from './checksums.ts'
import { convertRun } from './convert.ts'
import { openRunFolder } from './run-folder.ts'
import type { RunFolder } from './run-folder.ts'
import { claimRun, currentCheckpoint, loadRun, readConfig, recordedBase, saveRun } from './run-store.ts'

const home = mkdtempSync(join(tmpdir(), 'agoge-run-store-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

const damaged = expect.objectContaining({ code: 'bad-run-folder' }) as unknown

/** A run folder with these files. */
function runWith(name: string, files: Readonly<Record<string, string>>): RunFolder {
  const path = join(home, name)
  mkdirSync(join(path, 'checkpoints', 'rl-4'), { recursive: true })
  for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text)
  return openRunFolder({ path })
}

test.each(['null', '[]', '5', '"a"', '', '{'])('a config.json that is %s is refused', (text) => {
  const run = runWith(`config-${text.length}-${text.charCodeAt(0)}`, { 'config.json': text })
  expect(() => readConfig(run)).toThrow(damaged)
  expect(() => recordedBase(run)).toThrow(damaged)
})

test.each([
  { checkpoint: '../../elsewhere' },
  { checkpoint: '/etc' },
  { checkpoint: '..' },
  { checkpoint: '' },
  { keep: 3 },
  { keep: ['../x'] },
  { state: null },
])('a state.json with %o is refused', async (change) => {
  const state = { checkpoint: 'rl-4', keep: [], state: { schema: 1 }, ...change }
  const run = runWith(`state-${sha256(JSON.stringify(change)).slice(0, 8)}`, {
    'state.json': withChecksum(state, 1),
  })
  expect(() => currentCheckpoint(run)).toThrow(damaged)
  await expect(loadRun(run, () => true)).rejects.toThrow(damaged)
})

test.each(['10', -1, 0.5, {}])(
  'lengths of files such as %o are refused, and nothing is cut off',
  async (length) => {
    const state = { checkpoint: 'rl-4', state: { schema: 1 } }
    const times = { [sha256(JSON.stringify(state))]: { offsets: { 'metrics.jsonl': length } } }
    const run = runWith(`times-${sha256(JSON.stringify(length)).slice(0, 8)}`, {
      'state.json': withChecksum(state, 1),
      'times.json': withChecksum({ times }, 1),
      'metrics.jsonl': 'a line\n',
    })
    await expect(loadRun(run, () => true)).rejects.toThrow(damaged)
    expect(run.read('metrics.jsonl', String)).toBe('a line\n')
  },
)

test('files that are no JSON, or nested deeper than any reader can go, are not converted', () => {
  const deep = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
  for (const [at, text] of ['', '{"a"', deep].entries()) {
    const run = runWith(`convert-${at}`, { 'config.json': '{"world":"w"}', 'summary.json': text })
    expect(() => convertRun(run.path)).toThrow(damaged)
  }
})

test('a resumed run removes what a process that was killed while it wrote left behind, and nothing else', () => {
  const run = openRunFolder({ path: join(home, 'unfinished') })
  claimRun(run, {}, { resume: false })()
  mkdirSync(run.file('checkpoints', 'rl-4'), { recursive: true })
  const files = [
    'state.json.417.part',
    'checkpoints/rl-4/learner.bin.417.part',
    'checkpoints/rl-4/learner.bin',
    'notes.part',
  ]
  for (const name of files) writeFileSync(run.file(name), 'x')
  claimRun(run, {}, { resume: true })()
  const left = readdirSync(run.path, { recursive: true, encoding: 'utf8' })
  expect(left.filter((name) => name.includes('.part'))).toEqual(['notes.part'])
  expect(left).toContain(join('checkpoints', 'rl-4', 'learner.bin'))
})

test('a run that was killed before it removed what its state does not name removes it when it is loaded', async () => {
  const run = openRunFolder({ path: join(home, 'others') })
  claimRun(run, {}, { resume: false })()
  const make = (name: string): void => void mkdirSync(run.file('checkpoints', name), { recursive: true })
  const save = (checkpoint: string): void => {
    make(checkpoint)
    saveRun(run, { checkpoint, state: {}, times: {}, keep: ['best'] })
  }
  for (const name of ['best', 'final']) make(name)
  for (const name of ['step-1', 'step-2', 'step-3']) save(name)
  for (const name of ['step-1', 'step-9']) make(name)
  await loadRun(run, () => true)
  expect(run.list('checkpoints').toSorted()).toEqual(['best', 'final', 'step-2', 'step-3'])
})

test('a damaged checkpoint that is kept beside the newest is said, and one that a folder stands for is named', async () => {
  for (const damage of ['flipped', 'a folder', 'gone', 'no checksums']) {
    const run = runWith(`kept-${damage.length}`, {})
    for (const name of ['rl-2', 'rl-4']) {
      run.write(`checkpoints/${name}/weights.bin`, name)
      await writeChecksums(run.file('checkpoints', name))
    }
    saveRun(run, { checkpoint: 'rl-4', state: { schema: 1 }, times: {}, keep: ['rl-2'] })
    expect(await loadRun(run, () => true)).not.toHaveProperty('warning')
    const kept = run.file('checkpoints', 'rl-2', damage === 'no checksums' ? checksumsFile : 'weights.bin')
    rmSync(damage === 'gone' ? run.file('checkpoints', 'rl-2') : kept, { recursive: true })
    if (damage === 'flipped') writeFileSync(kept, 'rl-3')
    if (damage === 'a folder') mkdirSync(kept)
    const { checkpoint, warning } = (await loadRun(run, () => true))!
    expect(checkpoint).toBe('rl-4')
    expect(warning).toContain('the checkpoint rl-2, which is kept beside the newest, is damaged')
    expect(warning).toContain(damage === 'gone' ? 'rl-2 is missing' : kept)
  }
})
