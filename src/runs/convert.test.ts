import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serialize } from 'node:v8'
import { afterAll, expect, test } from 'vitest'
import { formatChecksums, readWithChecksum, sha256, withChecksum } from './checksums.ts'
import { convertRun, refuseEarlierVersion, renameFields } from './convert.ts'
import { openRunFolder } from './run-folder.ts'
import { loadRun } from './run-store.ts'
import { decodeState, encodeState } from './state-bytes.ts'

const home = mkdtempSync(join(tmpdir(), 'agoge-convert-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

test('fields are renamed at every depth, except in text of models and tools', () => {
  const weights = Float32Array.of(1, 2)
  expect(
    renameFields({
      world: 'w',
      plan: { tasks: { unseenWording: 3 } },
      nodes: [{ world: 'said' }],
      samples: [{ family: 'move', messages: [{ arguments: { body: 'text' } }] }],
      state: { figures: { sum: 1 }, weights },
    }),
  ).toEqual({
    environment: 'w',
    plan: { tasks: { unseenParaphrases: 3 } },
    nodes: [{ world: 'said' }],
    samples: [{ kind: 'move', messages: [{ arguments: { body: 'text' } }] }],
    state: { measured: { sum: 1 }, weights },
  })
})

test('a run of version 0.1 is refused with the command, and can be read after it', () => {
  const run = join(home, 'run')
  mkdirSync(join(run, 'checkpoints'), { recursive: true })
  const write = (name: string, content: string | Uint8Array): void => writeFileSync(join(run, name), content)
  const config = `${JSON.stringify({ schema: 1, world: 'cartpole', slots: 4 }, null, 2)}\n`
  write('config.json', config)
  write('checksums.sha256', formatChecksums(new Map([['config.json', sha256(config)]])))
  const state = { checkpoint: 'rl-4', state: { unseenWording: null } }
  write('state.json', withChecksum(state, 1))
  const times = { [sha256(JSON.stringify(state))]: { seconds: 3 } }
  write('times.json', withChecksum({ times }, 1))
  write('episodes.jsonl', '{"schema":1,"world":"filesystem","family":"move","nodes":[{"world":1}]}\n')

  const refused = (): void =>
    refuseEarlierVersion(run, JSON.parse(read('config.json')) as Record<string, unknown>)
  const read = (name: string): string => readFileSync(join(run, name), 'utf8')
  expect(refused).toThrow(
    expect.objectContaining({
      code: 'earlier-version',
      hint: expect.stringContaining('agoge convert') as string,
    }),
  )
  expect(convertRun(run)).toEqual(['state.json', 'config.json'])

  refused()
  expect(JSON.parse(read('config.json'))).toEqual({ schema: 1, environment: 'cartpole', numEnvs: 4 })
  expect(read('checksums.sha256')).toContain(sha256(read('config.json')))
  const fields = readWithChecksum(read('state.json'))!.fields
  expect(fields).toEqual({ checkpoint: 'rl-4', state: { unseenParaphrases: null } })
  expect(readWithChecksum(read('times.json'))!.fields['times']).toHaveProperty(
    sha256(JSON.stringify(fields)),
    {
      seconds: 3,
    },
  )
  expect(read('episodes.jsonl')).toContain('"world":"filesystem"')
  expect(convertRun(run)).toEqual([])
})

test('a classic run of version 0.1 gets the checkpoints of every run', async () => {
  const run = join(home, 'classic')
  mkdirSync(join(run, 'checkpoints'), { recursive: true })
  const write = (name: string, content: string | Uint8Array): void => writeFileSync(join(run, name), content)
  write('config.json', JSON.stringify({ world: 'cartpole' }))
  const state = {
    agent: { agent: { t: 1, storage: { order: [] }, seen: 4 } },
    figures: [1],
    step: 64,
    sets: [],
  }
  const bytes = encodeState({ schema: 1, identity: { world: 'cartpole' }, state })
  const sum = sha256(bytes)
  write('checkpoints/last.bin', serialize({ schema: 2, sha256: sum, checkpoint: bytes }))
  write('times.json', withChecksum({ times: { [sum]: { seconds: 3, metricsBytes: 10 } } }, 1))
  expect(convertRun(run)).toEqual(['state.json', 'checkpoints/step-64/learner.bin', 'config.json'])
  expect(decodeState(readFileSync(join(run, 'checkpoints/step-64/learner.bin')))).toEqual({
    step: 64,
    agent: { agent: { seen: 4, rollout: null } },
    environment: undefined,
    measured: [1],
  })
  const saved = await loadRun(openRunFolder({ path: run }), () => true)
  expect(saved).toMatchObject({
    checkpoint: 'step-64',
    state: { step: 64, best: null },
    times: { seconds: 3 },
  })
  expect(convertRun(run)).toEqual([])
})

test('a folder without a run is refused', () => {
  expect(() => convertRun(join(home, 'nothing'))).toThrow(expect.objectContaining({ code: 'no-run' }))
})

test('a file that was damaged before is named, not given a new checksum; a conversion that was cut off is finished', () => {
  const run = join(home, 'damaged')
  mkdirSync(run)
  const old = '{ "world": "cartpole" }'
  const now = `${JSON.stringify({ environment: 'cartpole' }, null, 2)}\n`
  writeFileSync(join(run, 'config.json'), old)
  const list = (sum: string): void =>
    writeFileSync(join(run, 'checksums.sha256'), formatChecksums(new Map([['config.json', sum]])))
  list(sha256('something else'))
  expect(() => convertRun(run)).toThrow(expect.objectContaining({ code: 'bad-run-folder' }))
  list(sha256(now))
  expect(convertRun(run)).toEqual(['config.json'])
  expect(readFileSync(join(run, 'config.json'), 'utf8')).toBe(now)
})
