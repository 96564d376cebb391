import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { baseModelFolder } from '../../llm/checkpoint/checkpoint.ts'
import { smallModelPlan } from '../../llm/training/defaults.ts'
import type { TrainingPlan } from '../../llm/training/types.ts'

// `agoge train` on the real server, as processes that are interrupted and killed. The plan is the main job's, with a few of everything.
const main = fileURLToPath(new URL('../main.ts', import.meta.url))
let root: string

const { warmStart, reinforcement } = smallModelPlan
const plan: TrainingPlan = {
  ...smallModelPlan,
  // Enough to do some of these sometimes, from which reinforcement learning has something to learn.
  demonstrations: { 'make-folder': 16, move: 16, rename: 16, write: 16 },
  warmStart: { ...warmStart, learningRate: 0.006, warmup: 2, batch: 16, epochs: 3, validateEvery: 12 },
  reinforcement: { ...reinforcement, steps: 3, groups: 8, groupSize: 4 },
  tasks: { validation: 1, test: 6, unseenParaphrases: 0 },
  checkpointEvery: 1,
}

/** A run that has only just begun: everything that `agoge train` needs to go on is in its config.json. */
function begin(name: string): string {
  const folder = join(root, name)
  mkdirSync(folder)
  const config = {
    schema: 1,
    environment: 'filesystem',
    seed: 3,
    compareSupervised: false,
    plan,
    model: baseModelFolder,
    commandLine: 'agoge train',
  }
  writeFileSync(join(folder, 'config.json'), `${JSON.stringify(config, null, 2)}\n`)
  return folder
}

interface Running {
  child: ChildProcess
  shown: () => string
  /** The exit code; null where it was killed. */
  ended: Promise<number | null>
}

function resume(folder: string): Running {
  const words = ['--import', 'tsx', '--conditions', 'agoge-source', main, 'train', '--resume', folder]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let shown = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => {
      shown += data.toString()
    })
  return { child, shown: () => shown, ended: new Promise((resolve) => child.once('close', resolve)) }
}

/** The steps of reinforcement learning that are done, as the run tells them. */
function stepsOf(folder: string): { step: number; metrics: Record<string, number> }[] {
  const file = join(folder, 'metrics.jsonl')
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
  return lines
    .map((line) => JSON.parse(line) as { phase: string; step: number; metrics: Record<string, number> })
    .filter(({ phase }) => phase === 'rl')
}

const reached = (folder: string, step: number): Promise<void> =>
  expect.poll(() => stepsOf(folder).length, { timeout: 600_000, interval: 5 }).toBeGreaterThanOrEqual(step)

/** Process ids of what a process has started; only Linux tells. */
function childrenOf({ pid }: ChildProcess): number[] {
  const threads = `/proc/${pid}/task`
  if (!existsSync(threads)) return []
  return readdirSync(threads)
    .flatMap((thread) => readFileSync(`${threads}/${thread}/children`, 'utf8').split(' '))
    .filter((text) => text !== '')
    .map(Number)
}

/** Empty where the process has ended. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const weights = (folder: string): Buffer =>
  readFileSync(join(folder, 'checkpoints', 'final', 'model.safetensors'))

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'agoge-train-'))
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

test('interrupted, killed and no longer listened to: the weights are those of a run left alone', async () => {
  const whole = begin('whole')
  const alone = resume(whole)
  expect(await alone.ended, alone.shown()).toBe(0)
  // Otherwise equal weights would say nothing about reinforcement learning.
  expect(stepsOf(whole).some(({ metrics }) => (metrics['gradientNorm'] ?? 0) > 0)).toBe(true)

  const folder = begin('broken')
  const interrupted = resume(folder)
  await reached(folder, 1)
  const children = childrenOf(interrupted.child)
  // The watchdog ends after the process that it watches, every server before it.
  const servers = children.filter((pid) => !commandOf(pid).includes('agoge-watchdog'))
  if (process.platform === 'linux') expect(servers.length).toBeGreaterThan(0)
  interrupted.child.kill('SIGINT')
  expect(await interrupted.ended, interrupted.shown()).toBe(130)
  expect(interrupted.shown()).toContain(`to resume: agoge train --resume ${folder}`)
  expect(servers.filter(isAlive)).toEqual([])
  await expect.poll(() => children.filter(isAlive), { timeout: 10_000 }).toEqual([])
  expect(existsSync(join(folder, 'summary.json'))).toBe(false)

  const killed = resume(folder)
  await reached(folder, 2)
  killed.child.kill('SIGKILL')
  expect(await killed.ended).toBeNull()

  // The reader of both streams goes away at once, as `2>&1 | head` does: the training is done all the same.
  const unheard = resume(folder)
  unheard.child.stderr?.once('data', () => unheard.child.stderr?.destroy())
  expect(await unheard.ended, unheard.shown()).toBe(0)
  expect(JSON.parse(readFileSync(join(folder, 'summary.json'), 'utf8'))).toMatchObject({ schema: 1 })
  expect(weights(folder).equals(weights(whole))).toBe(true)
})
