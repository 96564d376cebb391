import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serialize } from 'node:v8'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { filesBeneath, forEachDamage } from '../../runs/testing/damages.ts'
import { host } from '../../runs/lock.ts'
import { openRunFolder } from '../../runs/run-folder.ts'
import { loadAgent } from './load-agent.ts'
import { readRun } from './run-record.ts'
import { learned, metrics } from './testing/short-run.ts'
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

/** As a signal leaves a run: stopped between two steps. */
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

test('a damaged run is neither gone on with nor acted with, and the error names the file', async () => {
  const checkpoint = join('checkpoints', 'last.bin')
  const resumed = (): Promise<unknown> => train('stopped', true)
  const acting = (): Promise<unknown> => loadAgent(folder('stopped'))
  for (const [name, ways] of [
    [checkpoint, [resumed, acting]],
    ['config.json', [resumed]],
    ['times.json', [resumed]],
    ['checksums.sha256', [resumed]],
  ] as const)
    await forEachDamage(join(folder('stopped'), name), async (damage, at) => {
      // Without its checkpoint a run begins anew and says so; without the list it is the same run.
      if (damage === 'deleted' && (name === checkpoint || name === 'checksums.sha256')) return
      for (const way of ways)
        await expect(way(), `${damage} ${name} ${at}`).rejects.toMatchObject({
          code: 'bad-run-folder',
          message: expect.stringContaining(join(folder('stopped'), name)),
        })
    })
})

test('intact, it goes on, and its checkpoint has the bytes of the run that was not stopped', async () => {
  await train('stopped', true)
  const bytes = (name: string): string =>
    readFileSync(join(folder(name), 'checkpoints', 'last.bin'), 'base64')
  expect(bytes('stopped') === bytes('whole')).toBe(true)
  expect(metrics(folder('stopped'))).toBe(metrics(folder('whole')))
})

test('a finished run without its checkpoint says so', async () => {
  await train('gone')
  rmSync(join(folder('gone'), 'checkpoints'), { recursive: true })
  const gone = {
    code: 'no-model',
    message: `The run in ${folder('gone')} is finished, but its trained weights are gone`,
  }
  await expect(loadAgent(folder('gone'))).rejects.toMatchObject(gone)
  await expect(train('gone', true)).rejects.toMatchObject(gone)
})

test('a checkpoint of an earlier version, without checksum and with its times in it, is gone on with', async () => {
  await stopped('earlier')
  const earlier = folder('earlier')
  const { identity, state } = readRun(openRunFolder({ path: earlier }))
  const metricsBytes = readFileSync(join(earlier, 'metrics.jsonl')).length
  const old = {
    schema: 1,
    identity,
    metricsBytes,
    state: { ...(state as object), seconds: 100, evaluationSeconds: 0 },
  }
  writeFileSync(join(earlier, 'checkpoints', 'last.bin'), serialize(old))
  for (const name of ['times.json', 'checksums.sha256']) rmSync(join(earlier, name))
  const { seconds } = await train('earlier', true)
  expect(seconds).toBeGreaterThan(100)
  expect(learned(earlier)).toEqual(learned(folder('whole')))
  expect(metrics(earlier)).toBe(metrics(folder('whole')))
})

test('a run that another process writes to is refused and left as it is; one whose process was killed is not', async () => {
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
