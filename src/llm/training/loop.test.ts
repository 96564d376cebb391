import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AgogeError } from '../../error.ts'
import { readEpisodes } from '../episode/codec.ts'
import { createRandom } from '../../engine/random/index.ts'
import type { TrainingEvent } from '../../runs/run-folder.ts'
import { InfrastructureError } from '../tool/tool.ts'
import type { TrainingSummary, TrainableBackend } from './types.ts'
import { trainJob } from './loop.ts'
import type { LoopState } from './state.ts'
import { filesBeneath, forEachDamage, workUntil } from '../../runs/testing/faults.ts'
import { boxJob } from './testing/box-job.ts'

const script = new URL('./testing/box-child.ts', import.meta.url)

let root: string
let whole: string
let summary: TrainingSummary
const events: TrainingEvent[] = []

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'agoge-loop-'))
  whole = join(root, 'whole')
  summary = await trainJob(boxJob(whole), { onEvent: (event) => events.push(event) })
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

const weights = (folder: string): Buffer =>
  readFileSync(join(folder, 'checkpoints', 'final', 'model.safetensors'))
/** All files that a resumed run reads, or that a run leaves behind. */
const checkpointed = (folder: string): Record<string, string> => {
  const names = [
    'state.json',
    ...filesBeneath(join(folder, 'checkpoints')).map((name) => join('checkpoints', name)),
  ]
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'base64')]))
}
/** Lines of metrics without durations. */
const metrics = (folder: string): string =>
  readFileSync(join(folder, 'metrics.jsonl'), 'utf8').replaceAll(
    /"(\w*[sS]econds?|tokensPerSecond)":[\d.e-]+,?/g,
    '',
  )

test('an untrained model learns to open boxes', () => {
  expect(summary.stages.map(({ name }) => name)).toEqual(['base', 'warm-start', 'rl'])
  const [base, warmStart, rl] = summary.stages
  expect(base.success.mean).toBe(0)
  expect(warmStart.success.mean).toBeGreaterThan(0.3)
  expect(rl.success.n).toBe(12)
  expect(Object.keys(rl.kinds)).toEqual(['get', 'put'])
  expect(summary.demonstrations).toEqual({ get: 48, put: 48 })
  expect(summary.gain).toBeUndefined()
  expect(summary.unseenParaphrases?.success.n).toBe(4)
  expect(summary.cost.episodes).toBeGreaterThan(6 * 24)
})

test('where the best weights of RL are kept, steps that only lose end with the weights of the warm start', async () => {
  const usual = boxJob(join(root, 'losing'))
  const { reinforcement } = usual.plan
  // A rate at which the policy forgets everything.
  const losing = { ...reinforcement, learningRate: 1, steps: 2, validateEvery: 1, keep: 'best' as const }
  const validated: Record<string, Set<string>> = {}
  let phase = ''
  const environment: typeof usual.environment = {
    ...usual.environment,
    open(task, options) {
      if (task.split === 'validation') (validated[phase] ??= new Set()).add(task.id)
      return usual.environment.open(task, options)
    },
  }
  const { stages } = await trainJob(
    { ...usual, environment, plan: { ...usual.plan, reinforcement: losing } },
    {
      onEvent: (event) => {
        if (event.type === 'phase') phase = event.name
      },
    },
  )
  // RL does not have to beat the luck with which the warm start was chosen.
  const { 'warm-start': chosenBy = new Set<string>(), rl: others = new Set<string>() } = validated
  expect(others.size).toBe(chosenBy.size)
  expect([...others].filter((id) => chosenBy.has(id))).toEqual([])
  const [, warmStart, rl] = stages
  expect(warmStart.success.mean).toBeGreaterThan(0.3)
  expect(rl.success).toEqual(warmStart.success)
  const validations = metrics(join(root, 'losing'))
    .split('\n')
    .filter((line) => line.includes('"rl-validation"'))
  expect(validations).toHaveLength(3)
})

test('the run folder holds what happened', () => {
  expect(JSON.parse(readFileSync(join(whole, 'summary.json'), 'utf8'))).toEqual(summary)
  expect(readEpisodes(join(whole, 'episodes.jsonl')).length).toBe(6 * 2 * 6)
  const steps = metrics(whole)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line.replaceAll(',}', '}')) as { phase: string; step: number })
  expect(steps.filter(({ phase }) => phase === 'rl').map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6])
  expect(events.filter((event) => event.type === 'phase').map(({ name }) => name)).toEqual([
    'test base',
    'demonstrations',
    'warm-start',
    'test warm-start',
    'rl',
    'test rl',
    'unseen paraphrases',
  ])
})

test('killed at random moments and resumed: the same weights, metrics and episodes, bit for bit', async () => {
  const folder = join(root, 'killed')
  const random = createRandom(7, 'kills')
  let kills = 0
  for (;;) {
    // Each time a few events later, then at a random moment.
    const code = await workUntil(
      script,
      folder,
      kills < 4 ? 6 + random.int(24) : Infinity,
      random.next() * 30,
    )
    if (code === 0) break
    expect(code).toBeNull()
    kills++
  }
  expect(kills).toBeGreaterThan(2)
  expect(weights(folder).equals(weights(whole))).toBe(true)
  expect(checkpointed(folder)).toEqual(checkpointed(whole))
  expect(metrics(folder)).toBe(metrics(whole))
  const measuredIn = (path: string) =>
    readEpisodes(join(path, 'episodes.jsonl')).map((episode) => ({ ...episode, timing: null }))
  expect(measuredIn(folder)).toEqual(measuredIn(whole))
})

test('a run stopped by a signal saves its state and ends the same after resumption', async () => {
  const folder = join(root, 'stopped')
  const controller = new AbortController()
  const stopped = trainJob(boxJob(folder), {
    signal: controller.signal,
    onEvent(event) {
      if (event.type === 'step' && event.phase === 'rl' && event.step === 3)
        controller.abort(new Error('enough'))
    },
  })
  await expect(stopped).rejects.toThrow('enough')
  expect(JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8'))).toMatchObject({
    state: { phase: 'rl', step: 3 },
  })
  await trainJob({ ...boxJob(folder), resume: true })
  expect(weights(folder).equals(weights(whole))).toBe(true)
})

test('a damaged line of the metrics costs a finished run only that line', async () => {
  const folder = join(root, 'damaged')
  const stop = new AbortController()
  const onEvent = (event: TrainingEvent): void => {
    if (event.type === 'step' && event.phase === 'rl' && event.step === 3) stop.abort(new Error('stop'))
  }
  await expect(trainJob(boxJob(folder), { onEvent, signal: stop.signal })).rejects.toThrow('stop')
  const file = join(folder, 'metrics.jsonl')
  const [first, second, ...rest] = readFileSync(file, 'utf8').split('\n')
  writeFileSync(file, [first, 'x'.repeat(second.length), ...rest].join('\n'))
  const notes: string[] = []
  await trainJob(
    { ...boxJob(folder), resume: true },
    {
      onEvent: (event) => event.type === 'note' && notes.push(event.text),
    },
  )
  expect(notes.at(-1)).toBe(`${file}:2 is damaged; the curves of the report leave it out`)
  expect(existsSync(join(folder, 'report.html'))).toBe(true)
  expect(weights(folder).equals(weights(whole))).toBe(true)
})

test('a run stopped inside an update saves no weights ahead of the state, and ends the same', async () => {
  const folder = join(root, 'mid-update')
  const job = boxJob(folder, { checkpointEvery: 100 })
  const controller = new AbortController()
  let steps = 0
  const backend: typeof job.backend = async () => {
    const inner = await job.backend()
    const optimStep: typeof inner.optimStep = async (...step) => {
      const report = await inner.optimStep(...step)
      const { state } = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8')) as { state: LoopState }
      // The third update of RL has changed the weights. The abort rejects whoever waits for it.
      if (state.phase !== 'rl' || ++steps < 3) return report
      controller.abort(new Error('in the midst'))
      throw controller.signal.reason
    }
    return Object.assign(Object.create(inner) as TrainableBackend, { optimStep })
  }
  await expect(trainJob({ ...job, backend }, { signal: controller.signal })).rejects.toThrow('in the midst')
  // Two steps were done, but their weights are lost: resumes at the beginning of the phase.
  expect(JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8'))).toMatchObject({
    checkpoint: 'rl-0',
    state: { phase: 'rl', step: 0 },
  })
  const resumed = boxJob(folder, { checkpointEvery: 100 })
  await trainJob({ ...resumed, resume: true })
  expect(weights(folder).equals(weights(whole))).toBe(true)
})

test('a non-deterministic environment is journaled: episodes since the checkpoint are not played again', async () => {
  const folder = join(root, 'journaled')
  const job = boxJob(folder, { checkpointEvery: 4, tasks: { validation: 4, test: 4, unseenParaphrases: 0 } })
  const opened: string[] = []
  let dead = false
  const environment = {
    ...job.environment,
    deterministic: false,
    open(...args: Parameters<typeof job.environment.open>) {
      // As after a power failure: the third step of RL is unfinished and unsaved.
      if (dead) throw new AgogeError('the power is gone', { code: 'bad-argument' })
      opened.push(args[0].id)
      return job.environment.open(...args)
    },
  }
  const broken = trainJob(
    { ...job, environment },
    {
      onEvent(event) {
        if (event.type !== 'step' || event.phase !== 'rl' || event.step !== 2) return
        dead = true
        cpSync(folder, `${folder}-copy`, { recursive: true })
      },
    },
  )
  await expect(broken).rejects.toThrow()
  dead = false
  const before = opened.length
  const copy = { ...boxJob(`${folder}-copy`, job.plan), environment, resume: true }
  const resumed = await trainJob(copy)
  // Two finished steps of RL (and the end of the previous phase) came from the journal.
  const { groups, groupSize, steps, validateEvery } = job.plan.reinforcement
  const validations = Math.ceil(steps / validateEvery)
  expect(validations).toBe(2)
  expect(opened.length - before).toBe((steps - 2) * groups * groupSize + validations * 4 + 4)
  expect(resumed.stages.length).toBe(3)
})

test('resuming a finished run returns its summary, or an error that names the lost file', async () => {
  expect(await trainJob({ ...boxJob(whole), resume: true })).toEqual(summary)
  const folder = join(root, 'weightless')
  cpSync(whole, folder, { recursive: true })
  const resumed = () => trainJob({ ...boxJob(folder), resume: true })
  await forEachDamage(join(folder, 'summary.json'), () => expect(resumed()).rejects.toThrow('summary.json'))
  await forEachDamage(join(folder, 'state.json'), () => expect(resumed()).rejects.toThrow('state.json'))
  const weightsFile = join(folder, 'checkpoints', 'final', 'model.safetensors')
  await forEachDamage(weightsFile, () =>
    expect(resumed()).rejects.toMatchObject({
      message: expect.stringContaining(weightsFile),
      hint: expect.stringContaining(join(folder, 'checkpoints', 'rl-end')),
    }),
  )
  rmSync(join(folder, 'checkpoints', 'final'), { recursive: true })
  await expect(resumed()).rejects.toMatchObject({
    code: 'no-model',
    message: `The run in ${folder} is finished, but its trained weights are gone`,
    hint: expect.stringContaining(`such as ${join(folder, 'checkpoints')}`),
  })
})

test('the control arm continues supervision for as long as RL took, and the gain is paired', async () => {
  const compared = await trainJob({ ...boxJob(join(root, 'compared')), compareSupervised: true })
  expect(compared.stages.map(({ name }) => name)).toEqual(['base', 'warm-start', 'rl', 'supervised'])
  expect(compared.gain?.n).toBe(12)
  const [, , rl, supervised] = compared.stages
  expect(compared.gain?.mean).toBeCloseTo(rl.success.mean - supervised.success.mean)
  expect(existsSync(join(root, 'compared', 'evaluations', 'supervised.jsonl'))).toBe(true)
})

test('a folder that does not fit is refused before anything is done', async () => {
  await expect(trainJob(boxJob(whole))).rejects.toThrow(/already holds a run/)
  await expect(trainJob({ ...boxJob(join(root, 'empty')), resume: true })).rejects.toThrow(/no run to resume/)
  await expect(trainJob({ ...boxJob(whole), resume: true, seed: 6 })).rejects.toMatchObject({
    code: 'resume-mismatch',
    given: '"seed": 5, (before), "seed": 6, (now)',
  })
  const file = join(root, 'file')
  writeFileSync(file, '')
  await expect(trainJob(boxJob(join(file, 'run')))).rejects.toMatchObject({ code: 'unusable-path' })
})

test('an environment that always fails stops the run', async () => {
  const job = boxJob(join(root, 'broken'))
  const environment = {
    ...job.environment,
    open: () => Promise.reject(new InfrastructureError('the server crashed')),
  }
  await expect(trainJob({ ...job, environment })).rejects.toMatchObject({
    code: 'environment-broken',
    given: '12 × the server crashed',
  })
})

test('a reference plan that does not solve its task stops the run, naming the kind', async () => {
  const job = boxJob(join(root, 'unsolvable'))
  const tasks = {
    ...job.tasks,
    task: (options: Parameters<typeof job.tasks.task>[0]) => ({
      ...job.tasks.task(options),
      plan: () => ({ answer: 'no' }),
    }),
  }
  await expect(trainJob({ ...job, tasks })).rejects.toMatchObject({
    code: 'unsolvable-task',
    hint: expect.stringContaining('"get"'),
  })
})
