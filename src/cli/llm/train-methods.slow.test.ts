import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { baseModelFolder } from '../../llm/checkpoint/checkpoint.ts'
import { smallModelPlan } from '../../llm/training/defaults.ts'
import type { TrainingPlan } from '../../llm/training/types.ts'
import { readEpisodes } from '../../llm/episode/codec.ts'
import { recordedScore } from '../../llm/reward/reward.ts'
import { trainingMethods } from '../../llm/training/method-list.ts'
import { agoge } from '../testing/agoge.ts'
import { offlineMethods } from '../shared/options.ts'

let root: string
const at = (name: string): string => join(root, name)

/** A run that has only just begun, of few demonstrations, steps and tasks; `agoge train --resume` does the rest. */
async function trained(name: string, settings: object): Promise<{ code: number; out: string; err: string }> {
  mkdirSync(at(name))
  const { warmStart, reinforcement } = smallModelPlan
  const plan: TrainingPlan = {
    ...smallModelPlan,
    demonstrations: { 'make-folder': 24, move: 24, rename: 24, write: 24 },
    warmStart: { ...warmStart, learningRate: 0.006, warmup: 4, batch: 16, epochs: 3, validateEvery: 64 },
    reinforcement: { ...reinforcement, steps: 2, groups: 8, groupSize: 4, recordGroups: 8 },
    tasks: { validation: 1, test: 6, unseenParaphrases: 0 },
  }
  const config = {
    schema: 1,
    ...settings,
    environment: 'filesystem',
    seed: 3,
    compareSupervised: false,
    plan,
    model: baseModelFolder,
    commandLine: 'agoge train',
  }
  writeFileSync(join(at(name), 'config.json'), `${JSON.stringify(config, null, 2)}\n`)
  return agoge('train', '--resume', at(name))
}

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'agoge-methods-'))
  // What all offline methods learn from, and a teacher; itself trained by one of the online methods.
  const { code, out, err } = await trained('first', { algorithm: 'online-dpo' })
  expect(code, err).toBe(0)
  expect(out).toContain('after the warm start')
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

test('a student learns from the model of an earlier run', async () => {
  const teacher = join(at('first'), 'checkpoints', 'final')
  const { code, out, err } = await trained('student', { algorithm: 'distillation', teacher })
  expect(code, err).toBe(0)
  expect(out).toMatch(/success on held-out tasks +base model +after the warm start +after RL/)
  const metrics = readFileSync(join(at('student'), 'metrics.jsonl'), 'utf8')
  expect(metrics).toContain('"reverseKl"')
})

test.each(Object.keys(offlineMethods))(
  'train-offline --method %s reports pairs or steps before and after, and is finished when resumed',
  async (method) => {
    const words = ['train-offline', at('first'), '--method', method, '--steps', '2', '--tasks', '0']
    const { code, out, err } = await agoge(...words, '--out', at(method))
    expect(code, err).toBe(0)
    expect(out).toMatch(/\d+ held-out .*learnt from\) +before +after \d steps/)
    expect(out).toMatch(/in the right order +\d+% +\d+%/)
    expect(existsSync(join(at(method), 'report.html'))).toBe(true)
    const again = await agoge(...words, '--out', at(method), '--resume')
    expect(again).toMatchObject({ code: 0, out })
    const other = await agoge(...words.toSpliced(5, 1, '3'), '--out', at(method), '--resume')
    expect(other).toMatchObject({ code: 1, err: expect.stringMatching(/other settings/) as string })
  },
)

test('what a reward model says is the reward of a run', async () => {
  const rewardModel = join(at('reward-model'), 'checkpoints', 'final')
  const { code, err } = await trained('rewarded', { rewardModel })
  expect(code, err).toBe(0)
  const episodes = readEpisodes(join(at('rewarded'), 'episodes.jsonl')).filter(({ id }) =>
    id.startsWith('rl/'),
  )
  const scores = episodes.map((episode) => recordedScore(episode)?.value ?? -1)
  expect(scores.length).toBeGreaterThan(0)
  expect(scores.every((score) => score > 0 && score < 1)).toBe(true)
  const { err: refused } = await agoge('train', '--reward-model', at('first'))
  expect(refused).toMatch(/no reward model in/)
  for (const model of [
    at('process-reward-model'),
    join(at('process-reward-model'), 'checkpoints', 'final'),
  ]) {
    const { err: steps } = await agoge('train', '--reward-model', model)
    expect(steps).toMatch(/is a process reward model: it scores steps, not episodes/)
  }
  const { err: taken } = await agoge('train-offline', at('first'), '--out', at('reward-model'))
  expect(taken).toMatch(/already holds a run[\s\S]*Resume it with the same command and --resume/)
})

test('success on held-out tasks is compared, paired by task', async () => {
  const words = ['train-offline', at('first'), '--steps', '1', '--tasks', '6', '--out', at('compared')]
  const { code, out, err } = await agoge(...words)
  expect(code, err).toBe(0)
  expect(out).toContain('after less before, paired over 6 tasks')
})

test('help names every method; what is missing is said', async () => {
  const train = await agoge('train', '--help')
  for (const name of Object.keys(trainingMethods)) expect(train.out).toContain(`  ${name}`)
  const offline = await agoge('train-offline', '--help')
  for (const name of Object.keys(offlineMethods)) expect(offline.out).toContain(`  ${name}`)
  const refused = async (...words: string[]) => (await agoge(...words)).err
  expect(await refused('train', '--algorithm', 'distillation')).toMatch(/needs a teacher/)
  expect(await refused('train', '--teacher', at('first'))).toMatch(/is of --algorithm distillation/)
  expect(await refused('train', '--algorithm', 'ppo', '--lora', '4')).toMatch(
    /trains a critic from all weights/,
  )
  expect(await refused('train', '--algorithm', 'arcer')).toMatch(/Did you mean "archer"/)
  expect(await refused('train-offline', at('nowhere'), '--out', at('x'))).toMatch(/no episodes to learn from/)
  expect(await refused('train-offline', at('first'), '--method', 'dop', '--out', at('x'))).toMatch(/Allowed/)
  expect(await refused('train-offline', at('first'), '--learning-rate', '0', '--out', at('x'))).toMatch(
    /above 0/,
  )
})
