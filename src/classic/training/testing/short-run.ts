import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openRunFolder } from '../../../runs/run-folder.ts'
import { currentCheckpoint } from '../../../runs/run-store.ts'
import { ppo, ppoPresets } from '../../algorithm/on-policy/ppo.ts'
import { type SmallLearnerName, smallLearners } from '../../algorithm/testing/small-learners.ts'
import { cartPole } from '../../environments/control/cart-pole.ts'
import { readRun } from '../run-record.ts'
import type { ClassicTrainOptions } from '../types.ts'

const clocks = /"(\w*[sS]econds?|stepsPerSecond)":[\d.e+-]+,?/g

/** The metrics of a run without wall-clock times. */
export const metrics = (folder: string): string =>
  readFileSync(join(folder, 'metrics.jsonl'), 'utf8').replaceAll(clocks, '')

/** The state in the last checkpoint. */
export const learned = (folder: string): unknown => readRun(openRunFolder({ path: folder })).learner

/** The file of the last checkpoint. */
export const checkpointFile = (folder: string): string =>
  join(folder, 'checkpoints', currentCheckpoint(openRunFolder({ path: folder })) ?? 'none', 'learner.bin')

/** The bytes of the last checkpoint. */
export const checkpointBytes = (folder: string): string => readFileSync(checkpointFile(folder), 'base64')

/** A second of PPO on CartPole. Checkpoints fall into the middle of rollouts. */
export const shortRun = (out: string): ClassicTrainOptions => ({
  definition: cartPole,
  algorithm: ppo({ ...ppoPresets['sb3-zoo-cartpole'], epochs: 2, hidden: [16] }),
  settings: { algorithm: 'ppo', preset: 'test' },
  numEnvs: 4,
  steps: 6000,
  seed: 3,
  evaluate: { episodes: 5, every: 1500, during: 3 },
  checkpointEvery: 300,
  out,
})

/** The learners that are killed together. Each has some state that the others lack. */
export const killedLearners = [
  'ppo with rnd',
  'ppo, recurrent',
  'dqn, double, dueling, noisy, prioritised, 3 steps',
  'sac',
  'reinforce',
  'openai-es',
  'cma-es',
  'sarsa-lambda',
] as const satisfies readonly SmallLearnerName[]

/** Half a second of a small learner. */
export const smallRun = (name: SmallLearnerName, out: string): ClassicTrainOptions => ({
  ...smallLearners[name],
  settings: { algorithm: name },
  steps: 2400,
  seed: 3,
  evaluate: { episodes: 2, every: 1100, during: 2 },
  checkpointEvery: 130,
  out,
})
