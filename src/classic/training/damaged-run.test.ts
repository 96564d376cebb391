import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { serialize } from 'node:v8'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { filesBeneath, forEachDamage } from '../../runs/testing/faults.ts'
import { host } from '../../runs/lock.ts'
import { forgetChecked } from '../../runs/checksums.ts'
import { readWithChecksum, sha256, withChecksum } from '../../runs/checksums.ts'
import { convertRun } from '../../runs/convert.ts'
import { openRunFolder } from '../../runs/run-folder.ts'
import { encodeState } from '../../runs/state-bytes.ts'
import { loadAgent } from './load-agent.ts'
import { readRun, type RunState } from './run-record.ts'
import { evaluateAgent } from './evaluate-agent.ts'
import { checkpointBytes, checkpointFile, learned, metrics } from './testing/short-run.ts'
import { trainNamed } from './find-run.ts'
import { trainSeeds } from './train-seeds.ts'

const root = mkdtempSync(join(tmpdir(), 'agoge-damaged-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const run = {
  environment: 'cartpole',
  algorithm: 'ppo',
  config: { hidden: [8] },
  steps: 2048,
  numEnvs: 2,
  seed: 1,
  evaluate: { episodes: 1, every: 0 },
  command: 'test',
}
const folder = (name: string): string => join(root, name)
const train = (name: string, resume = false) => trainNamed({ ...run, out: folder(name), resume })

/** A run stopped between two steps, as by a signal. */
async function stopped(name: string): Promise<void> {
  const stop = new AbortController()
  const onEvent = ({ type }: { type: string }): void => {
    if (type === 'step') stop.abort(new Error('enough'))
  }
  await expect(
    trainNamed({ ...run, out: folder(name), resume: false, onEvent, signal: stop.signal }),
  ).rejects.toThrow('enough')
}

beforeAll(async () => {
  await train('whole')
  await stopped('stopped')
})

test('a damaged run is neither resumed nor loaded, and the error names the file', async () => {
  const checkpoint = checkpointFile(folder('stopped'))
  const resumed = (): Promise<unknown> => train('stopped', true)
  const acting = (): Promise<unknown> => loadAgent(folder('stopped'))
  for (const [file, ways] of [
    [checkpoint, [acting]],
    [join(folder('stopped'), 'state.json'), [acting]],
    [join(folder('stopped'), 'config.json'), [resumed, acting]],
    [join(folder('stopped'), 'times.json'), [resumed]],
    [join(folder('stopped'), 'checksums.sha256'), [resumed]],
  ] as const)
    await forEachDamage(file, async (damage, at) => {
      // Without the list of checksums it is the same run. Without a config it is no run.
      if (damage === 'deleted' && !file.endsWith('times.json') && file !== checkpoint) return
      for (const way of ways)
        await expect(way(), `${damage} ${file} ${at}`).rejects.toMatchObject({
          code: 'bad-run-folder',
          message: expect.stringContaining(file),
        })
    })
})

test('if the newest checkpoint is damaged, the run goes on from the one before it, says so, and ends the same', async () => {
  const checkpoint = relative(folder('stopped'), checkpointFile(folder('stopped')))
  for (const name of [checkpoint, 'state.json'])
    await forEachDamage(join(folder('stopped'), name), async (damage) => {
      cpSync(folder('stopped'), folder('copy'), { recursive: true })
      const notes: string[] = []
      await trainNamed({
        ...run,
        out: folder('copy'),
        resume: true,
        onEvent: (event) => event.type === 'note' && notes.push(event.text),
      })
      expect(notes[0], `${damage} ${name}`).toMatch(/ (?:is damaged|is missing): going on from .*step-\d+$/)
      expect(notes[0]).toContain(join(folder('copy'), name))
      expect(checkpointBytes(folder('copy')) === checkpointBytes(folder('whole'))).toBe(true)
      expect(metrics(folder('copy'))).toBe(metrics(folder('whole')))
      rmSync(folder('copy'), { recursive: true })
    })
})

test('an intact run resumes, and its checkpoint has the same bytes as that of an uninterrupted run', async () => {
  await train('stopped', true)
  expect(checkpointBytes(folder('stopped')) === checkpointBytes(folder('whole'))).toBe(true)
  expect(metrics(folder('stopped'))).toBe(metrics(folder('whole')))
})

test('a finished run without its checkpoint is refused', async () => {
  await train('gone')
  rmSync(join(folder('gone'), 'checkpoints'), { recursive: true })
  const gone = {
    code: 'no-model',
    message: `The run in ${folder('gone')} is finished, but its trained weights are gone`,
  }
  await expect(loadAgent(folder('gone'))).rejects.toMatchObject(gone)
  await expect(train('gone', true)).rejects.toMatchObject(gone)
})

/** A run in the format of version 0.1: one file with everything, and times beside its checksum. */
function asVersion01(
  path: string,
  change: (agent: Record<string, unknown>) => unknown = (agent) => agent,
): void {
  const opened = openRunFolder({ path })
  const { config, learner } = readRun(opened)
  const { state } = opened.read('state.json', readWithChecksum)!.fields as { state: RunState }
  const { schema: _, best: __, notFinite: ___, ...loop } = state
  const [{ offsets, ...times }] = Object.values(
    opened.read('times.json', readWithChecksum)!.fields['times'] as Record<string, Record<string, unknown>>,
  ).slice(-1)
  const agent = change(learner.agent as Record<string, unknown>)
  const checkpoint = encodeState({ schema: 1, identity: config, state: { ...loop, ...learner, agent } })
  const sum = sha256(checkpoint)
  rmSync(join(path, 'checkpoints'), { recursive: true })
  rmSync(join(path, 'state.json'))
  opened.makeFolder('checkpoints')
  opened.write('checkpoints/last.bin', serialize({ schema: 2, sha256: sum, checkpoint }))
  const metricsBytes = (offsets as Record<string, number>)['metrics.jsonl']
  opened.write('times.json', withChecksum({ times: { [sum]: { ...times, metricsBytes } } }, 1))
  forgetChecked(opened, 'checkpoints')
}

test('a run of version 0.1 is refused with the command that converts it, and continues bit for bit after the conversion', async () => {
  await stopped('earlier')
  asVersion01(folder('earlier'))
  const refused = {
    code: 'earlier-version',
    hint: expect.stringContaining(`agoge convert ${folder('earlier')}`),
  }
  await expect(train('earlier', true)).rejects.toMatchObject(refused)
  await expect(loadAgent(folder('earlier'))).rejects.toMatchObject(refused)
  expect(convertRun(folder('earlier'))).toContain('state.json')
  expect(convertRun(folder('earlier'))).toEqual([])
  await train('earlier', true)
  expect(learned(folder('earlier'))).toEqual(learned(folder('whole')))
  expect(metrics(folder('earlier'))).toBe(metrics(folder('whole')))
})

test('a PQN run of version 0.1, whose rollout had another form, starts a new rollout', async () => {
  const { config: _, ...named } = { ...run, algorithm: 'pqn', out: folder('pqn'), resume: false }
  const stop = new AbortController()
  const halfway = trainNamed({
    ...named,
    signal: stop.signal,
    onEvent: ({ type }) => type === 'step' && stop.abort(new Error('enough')),
  })
  await expect(halfway).rejects.toThrow('enough')
  asVersion01(folder('pqn'), (agent) => ({
    ...agent,
    t: 3,
    storage: { nextValues: new Float32Array(4), order: new Int32Array(4) },
  }))
  convertRun(folder('pqn'))
  expect((await trainNamed({ ...named, resume: true })).steps).toBe(run.steps)
})

test('the best evaluation is the earliest of the highest, and its checkpoint is kept and can be loaded', async () => {
  const { evaluations, best } = await trainNamed({
    ...run,
    evaluate: { episodes: 3, every: 256, during: 3 },
    out: folder('best'),
    resume: false,
  })
  const highest = Math.max(...evaluations.map(({ return: found }) => found.mean))
  const first = evaluations.find(({ return: found }) => found.mean === highest)!
  expect(best).toEqual({ step: first.step, return: highest, checkpoint: `step-${first.step}` })
  expect(openRunFolder({ path: folder('best') }).list('checkpoints')).toContain(`step-${first.step}`)
  const path = join(folder('best'), 'checkpoints', `step-${first.step}`)
  const { agent, definition } = await loadAgent(path)
  const { returns } = await evaluateAgent(agent, definition, { episodes: 3, seed: run.seed })
  expect(returns.reduce((a, b) => a + b, 0) / 3).toBeCloseTo(highest, 9)
  await agent.dispose()
})

test('a run that another process writes to is refused and unchanged, and one whose process was killed resumes', async () => {
  const file = join(folder('taken'), 'running.json')
  openRunFolder({ path: folder('taken') })
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  const ended = new Promise((resolve) => other.once('exit', resolve))
  writeFileSync(file, `${JSON.stringify({ pid: other.pid, host })}\n`)
  const refused = { code: 'run-in-use', hint: expect.stringContaining(`kill ${other.pid}`) }
  await expect(train('taken')).rejects.toMatchObject(refused)
  const { seed: _, ...named } = run
  await expect(trainSeeds({ ...named, seeds: [1, 2], out: folder('taken') })).rejects.toMatchObject(refused)
  expect(filesBeneath(folder('taken'))).toEqual(['running.json'])
  other.kill('SIGKILL')
  await ended
  await train('taken')
  expect(existsSync(file)).toBe(false)
})
