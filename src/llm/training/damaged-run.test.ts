import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AgogeError } from '../../error.ts'
import { checksumsFile, writeChecked } from '../../runs/checksums.ts'
import { filesBeneath, forEachDamage } from '../../runs/testing/faults.ts'
import { trainJob } from './loop.ts'
import { openRunFolder } from '../../runs/run-folder.ts'
import { boxJob } from './testing/box-job.ts'
import type { TrainJobOptions } from './types.ts'

let root: string
let stopped: string

/** A run with files of every kind: it samples ahead and has a journal. */
function job(path: string): TrainJobOptions {
  const { plan, environment, ...options } = boxJob(path)
  return {
    ...options,
    // Every group has reward variance, even for an untrained model.
    reward: ({ samples }) => samples.flatMap(({ logprobs }) => [...logprobs]).reduce((a, b) => a + b, 0),
    environment: { ...environment, deterministic: false },
    plan: {
      ...plan,
      demonstrations: { get: 8, put: 8 },
      warmStart: { ...plan.warmStart, epochs: 1 },
      reinforcement: {
        ...plan.reinforcement,
        groups: 2,
        groupSize: 2,
        steps: 4,
        maxStaleness: 1,
        validateEvery: 0,
      },
      tasks: { validation: 2, test: 2, unseenParaphrases: 0 },
    },
  }
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'agoge-damaged-'))
  stopped = join(root, 'stopped')
  const first = trainJob(job(join(root, 'first')), {
    onEvent(event) {
      // As after a power failure in the third step.
      if (event.type === 'step' && event.phase === 'rl' && event.step === 3)
        cpSync(join(root, 'first'), stopped, { recursive: true })
    },
  })
  await first
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

/** Continues until the first step is done. Returns what it said at first. */
async function resumed(path = stopped): Promise<string[]> {
  const stop = new AbortController()
  const notes: string[] = []
  const over = await trainJob(
    { ...job(path), resume: true },
    {
      signal: stop.signal,
      onEvent(event) {
        if (event.type === 'note') notes.push(event.text)
        if (event.type === 'step') stop.abort(new Error('it went on'))
      },
    },
  ).catch((error: unknown) => error)
  if (over instanceof Error && over.message === 'it went on') return notes
  throw over
}

test('a run of which a file that its result depends on is damaged or gone is not resumed', async () => {
  const files = filesBeneath(stopped).filter((name) =>
    /^(?:config|times)\.json$|^checksums|^journal|^pending.2/.test(name),
  )
  expect(files.join('\n')).toMatch(/journal.*\n.*pending.2\.json\n.*times\.json/s)
  const before = readFileSync(join(stopped, 'metrics.jsonl'), 'utf8')
  for (const name of files)
    await forEachDamage(join(stopped, name), async (damage) => {
      // The files of a checksum list are intact if only the list is missing.
      if (name.endsWith(checksumsFile) && damage === 'deleted') return
      const error: unknown = await resumed().catch((error: unknown) => error)
      const where = `${damage} ${name}: ${String(error)}`
      expect(AgogeError.isInstance(error) && error.code === 'bad-run-folder', where).toBe(true)
    })
  expect(before.startsWith(readFileSync(join(stopped, 'metrics.jsonl'), 'utf8'))).toBe(true)
})

test('if the newest checkpoint is damaged, the run goes on from the one before it, and says so', async () => {
  const files = filesBeneath(stopped).filter((name) => /^state\.json$|^checkpoints.rl-2/.test(name))
  expect(files.join('\n')).toMatch(/model\.safetensors.*\nstate\.json/s)
  for (const name of files)
    await forEachDamage(join(stopped, name), async (damage) => {
      if (name.endsWith(checksumsFile) && damage === 'deleted') return
      const copy = join(root, 'copy')
      cpSync(stopped, copy, { recursive: true })
      const [note] = await resumed(copy)
      expect(note, `${damage} ${name}`).toMatch(
        /^\S+ (?:is damaged|is missing): going on from the checkpoint before it, rl-\d$/,
      )
      expect(note).toContain(join(copy, name))
      rmSync(copy, { recursive: true })
    })
})

test('gone on from the checkpoint before, a run ends with the bytes of an uninterrupted run', async () => {
  const copy = join(root, 'cut')
  cpSync(stopped, copy, { recursive: true })
  rmSync(join(copy, 'checkpoints', 'rl-2'), { recursive: true })
  await trainJob({ ...job(copy), resume: true })
  for (const name of ['state.json', join('checkpoints', 'final', 'model.safetensors')])
    expect(readFileSync(join(copy, name)).equals(readFileSync(join(root, 'first', name))), name).toBe(true)
})

test('without an intact checkpoint before it, a damaged one is named', async () => {
  const copy = join(root, 'both')
  cpSync(stopped, copy, { recursive: true })
  writeFileSync(join(copy, 'state.json'), '')
  writeFileSync(join(copy, 'state-before.json'), '')
  await expect(resumed(copy)).rejects.toThrow(`${join(copy, 'state.json')} is damaged`)
})

test('the error for a damaged file of a run names it', async () => {
  await forEachDamage(join(stopped, 'config.json'), () =>
    expect(resumed()).rejects.toThrow(join(stopped, 'config.json')),
  )
})

test('an intact run resumes and ends with the bytes of an uninterrupted run', async () => {
  const notes: string[] = []
  await trainJob(
    { ...job(stopped), resume: true },
    { onEvent: (event) => event.type === 'note' && notes.push(event.text) },
  )
  expect(notes).toEqual([`going on with ${stopped} at rl-2`])
  for (const name of ['state.json', join('checkpoints', 'final', 'model.safetensors')])
    expect(readFileSync(join(stopped, name)).equals(readFileSync(join(root, 'first', name))), name).toBe(true)
})

test('a run of an earlier version, without checksums and with times in its state, resumes', async () => {
  const folder = join(root, 'earlier')
  const options = boxJob(folder)
  const controller = new AbortController()
  const onEvent = (event: { type: string; step?: number }): void => {
    if (event.type === 'step' && event.step === 2) controller.abort(new Error('enough'))
  }
  await expect(trainJob(options, { onEvent, signal: controller.signal })).rejects.toThrow('enough')
  const { checkpoint, state } = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8')) as {
    checkpoint: string
    state: object
  }
  const { times } = JSON.parse(readFileSync(join(folder, 'times.json'), 'utf8')) as {
    times: Record<string, object>
  }
  const { stages, ...clocks } = Object.values(times).at(-1) as { stages: object[] }
  const was = state as { stages: object[] }
  const earlier = {
    ...state,
    ...clocks,
    stages: was.stages.map((stage, at) => ({ ...stage, ...stages[at] })),
  }
  writeFileSync(join(folder, 'state.json'), JSON.stringify({ checkpoint, state: earlier }, null, 1))
  for (const name of filesBeneath(folder)) if (name.endsWith(checksumsFile)) rmSync(join(folder, name))
  rmSync(join(folder, 'times.json'))
  const again = new AbortController()
  const next = trainJob(
    { ...options, resume: true },
    {
      signal: again.signal,
      onEvent: (event) => event.type === 'step' && event.step === 4 && again.abort(new Error('far enough')),
    },
  )
  await expect(next).rejects.toThrow('far enough')
})

test('a file that was about to be written when its process was killed is no false alarm', () => {
  const folder = openRunFolder({ path: join(root, 'files') })
  writeChecked(folder, 'evaluations/rl.jsonl', 'one\n')
  const list = readFileSync(folder.file(checksumsFile), 'utf8')
  expect(list).toMatch(/^[0-9a-f]{64} {2}evaluations\/rl\.jsonl\n$/)
  // Killed while the file is rewritten: the list names no missing file.
  const broken = { ...folder, write: (name: string) => expect(name).not.toBe('evaluations/rl.jsonl') }
  expect(() => writeChecked(broken, 'evaluations/rl.jsonl', 'two\n')).toThrow()
  expect(folder.has(checksumsFile)).toBe(false)
})
