import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createRandom } from '../../src/engine/random/index.ts'
import { AgogeError } from '../../src/error.ts'
import { openRunFolder } from '../../src/runs/run-folder.ts'
import { supervised } from '../../src/llm/algorithm/losses/imitation.ts'
import { optimisePolicy } from '../../src/llm/algorithm/policy-optimisation/optimise-policy.ts'
import { loadLocalBackend } from '../../src/llm/backend/local-backend.ts'
import type { LocalBackend } from '../../src/llm/backend/local-backend.ts'
import { baseModelFolder } from '../../src/llm/checkpoint/checkpoint.ts'
import {
  createReasoningEnvironment,
  reasoningReward,
} from '../../src/llm/environment/reasoning/environment.ts'
import type { ReasoningTask } from '../../src/llm/environment/reasoning/environment.ts'
import type { Episode } from '../../src/llm/episode/types.ts'
import { isJudged } from '../../src/llm/evaluation/episode-statistics.ts'
import type { OptimStep } from '../../src/llm/model-backend.ts'
import { demonstrate, evaluatePolicy, heldOutTasks } from '../../src/llm/rollout/collect.ts'
import type { Tokenizer } from '../../src/llm/tokenizer/tokenizer.ts'
import { smallModelPlan } from '../../src/llm/training/defaults.ts'
import { actorOf, createJob } from '../../src/llm/training/job.ts'
import type { Job } from '../../src/llm/training/job.ts'
import { runReinforcement } from '../../src/llm/training/reinforcement-phase.ts'
import { initialState, saveWeights } from '../../src/llm/training/state.ts'
import type { TrainingPlan } from '../../src/llm/training/types.ts'
import { tasks } from './task.ts'
import { findPolicyPreset } from '../../src/llm/algorithm/policy-optimisation/presets.ts'
import { budget } from './plan.ts'

/** A model with what it needs to be trained again and again from the same weights. */
export interface Trainee {
  backend: LocalBackend
  tokenizer: Tokenizer
  /** Its weights at the start. */
  folder: string
}

const { supervised: ofSupervised, reinforcement, testTasks } = budget
const plan: TrainingPlan = {
  ...smallModelPlan,
  demonstrations: {},
  checkpointEvery: 1000,
  maxTokensPerTurn: 24,
  limits: { turns: 1, tokensPerTurn: 24, totalTokens: 160, deadlineSeconds: 600, toolDeadlineSeconds: 60 },
}

/** Opens a model at the weights of a folder, to train all weights or an adapter of this rank. */
export async function openTrainee(folder: string, rank: number | null): Promise<Trainee> {
  const trainable = rank === null ? {} : { trainable: { lora: { rank } } }
  const backend = await loadLocalBackend(folder, { ...trainable, threads: 1 })
  return { backend, tokenizer: backend.tokenizer!, folder }
}

/** Demonstrations of the first `count` tasks of a split. */
export function demonstrations(
  tokenizer: Tokenizer,
  split: 'train' | 'test',
  count: number,
): Promise<Episode[]> {
  const drawn =
    split === 'test'
      ? heldOutTasks(tasks, split, count)
      : Array.from({ length: count }, (_, seed) => tasks.task({ split, seed }))
  return demonstrate({
    tasks: drawn,
    environment: createReasoningEnvironment(),
    tokenizer,
    limits: plan.limits,
  })
}

/** Mean negative log-likelihood of the demonstrated tokens, in nats. */
async function natsOf(backend: LocalBackend, episodes: readonly Episode[]): Promise<number> {
  const { sequences } = supervised(episodes)
  const logprobs = await backend.forward(sequences.map(({ tokens }) => tokens))
  let [nats, count] = [0, 0]
  for (const [i, { weights }] of sequences.entries())
    weights.ce.forEach((weight, t) => {
      if (weight === 0) return
      nats -= logprobs[i][t]
      count++
    })
  return nats / count
}

/**
 * Supervised fine-tuning on demonstrations.
 *
 * @returns nats per token of held-out demonstrations afterwards; null if training failed for numbers that are not finite.
 */
export async function fineTuned(
  { backend, folder }: Trainee,
  { train, test }: { train: readonly Episode[]; test: readonly Episode[] },
  {
    optimizer,
    learningRate,
    seed,
  }: { optimizer: OptimStep['optimizer']; learningRate: number; seed: number },
  { steps, batch, warmup }: { steps: number; batch: number; warmup: number } = ofSupervised,
): Promise<number | null> {
  await backend.load(folder)
  const perEpoch = Math.floor(train.length / batch)
  return unlessSpoilt(async () => {
    for (let step = 0; step < steps; step++) {
      const order = createRandom(seed, 'lora-rates', Math.floor(step / perEpoch)).shuffle(train)
      const at = (step % perEpoch) * batch
      const { sequences, loss } = supervised(order.slice(at, at + batch))
      if (typeof loss === 'function') throw new Error('the loss is built-in')
      await backend.forwardBackward(sequences, loss)
      const rate = learningRate * Math.min(1, (step + 1) / warmup) * (1 - step / steps)
      await backend.optimStep({ ...(optimizer && { optimizer }), learningRate: rate, clip: 1 })
    }
    return natsOf(backend, test)
  })
}

/** The warm start of reinforcement learning, trained once. @returns its folder. */
export async function warmStart(root: string): Promise<string> {
  const folder = join(root, 'warm')
  if (existsSync(folder)) return folder
  const trainee = await openTrainee(baseModelFolder, null)
  const { demonstrations: count, learningRate, ...shape } = reinforcement.warmStart
  const train = await demonstrations(trainee.tokenizer, 'train', count)
  await fineTuned(
    trainee,
    { train, test: train.slice(0, 1) },
    { optimizer: 'adamw', learningRate, seed: 0 },
    shape,
  )
  await trainee.backend.export(folder)
  await trainee.backend.dispose()
  return folder
}

function openJob(path: string, { backend, tokenizer }: Trainee, seed: number, learningRate: number) {
  return createJob<ReasoningTask>({
    options: {
      command: 'lora-rates',
      folder: { path },
      seed,
      environment: createReasoningEnvironment(),
      tasks,
      tokenizer,
      backend: () => Promise.resolve(backend),
      reward: reasoningReward(),
      algorithm: optimisePolicy(findPolicyPreset('grpo-damped').settings),
      plan: {
        ...plan,
        reinforcement: {
          ...smallModelPlan.reinforcement,
          learningRate,
          steps: reinforcement.steps,
          groups: reinforcement.groups,
          groupSize: reinforcement.groupSize,
          validateEvery: 0,
          keep: 'last',
          recordGroups: 0,
        },
      },
    },
    backend,
    folder: openRunFolder({ path }),
    state: initialState(),
    emit: () => {},
    signal: undefined,
  })
}

async function successOf(job: Job<ReasoningTask>): Promise<number> {
  const episodes = await evaluatePolicy({
    name: 'test',
    tasks: heldOutTasks(tasks, 'test', testTasks),
    actor: actorOf(job, 1),
    environment: job.options.environment,
    limits: plan.limits,
  })
  const judged = episodes.filter(isJudged)
  return judged.filter((episode) => episode.success === true).length / judged.length
}

/**
 * GRPO from the warm start.
 *
 * @returns the share of held-out tasks solved by answers sampled at temperature 1; null if training failed for numbers that are
 *   not finite.
 */
export async function reinforced(
  root: string,
  trainee: Trainee,
  { learningRate, seed }: { learningRate: number; seed: number },
): Promise<number | null> {
  const path = join(root, 'grpo')
  rmSync(path, { recursive: true, force: true })
  await trainee.backend.load(trainee.folder)
  const job = openJob(path, trainee, seed, learningRate)
  return unlessSpoilt(async () => {
    job.state.phase = 'rl'
    job.state.warmStart = 'warm'
    await saveWeights(job.folder, trainee.backend, 'warm')
    if (reinforcement.steps > 0) await runReinforcement(job, () => Promise.resolve([]))
    return successOf(job)
  })
}

async function unlessSpoilt(work: () => Promise<number>): Promise<number | null> {
  try {
    const score = await work()
    return Number.isFinite(score) ? score : null
  } catch (error) {
    const spoilt = ['non-finite-loss', 'gradient-not-finite', 'non-finite-logits', 'weights-not-finite']
    if (AgogeError.isInstance(error) && spoilt.includes(error.code)) return null
    throw error
  }
}
