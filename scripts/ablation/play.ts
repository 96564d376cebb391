import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { optimisePolicy } from '../../src/llm/algorithm/policy-optimisation/optimise-policy.ts'
import type { PolicySettings } from '../../src/llm/algorithm/catalogue.ts'
import { isJudged } from '../../src/llm/evaluation/episode-statistics.ts'
import { average } from '../../src/statistics/statistics.ts'
import type { LocalBackend } from '../../src/llm/backend/local-backend.ts'
import { evaluatePolicy, heldOutTasks } from '../../src/llm/rollout/collect.ts'
import { actorOf, createJob } from '../../src/llm/training/job.ts'
import type { Job } from '../../src/llm/training/job.ts'
import { openRunFolder } from '../../src/runs/run-folder.ts'
import type { MetricsRecord } from '../../src/runs/run-folder.ts'
import { runReinforcement } from '../../src/llm/training/reinforcement-phase.ts'
import { initialState, saveWeights } from '../../src/llm/training/state.ts'
import { collectDemonstrations, runSupervised } from '../../src/llm/training/fine-tune.ts'
import {
  createReasoningEnvironment,
  reasoningReward,
} from '../../src/llm/environment/reasoning/environment.ts'
import type { ReasoningTask } from '../../src/llm/environment/reasoning/environment.ts'
import { createModel, tokenizer } from './model.ts'
import { tasks } from './task.ts'
import { plan, testTasks, variants } from './variants.ts'

/** Share of the held-out tasks solved by the greedy answer, and by one sampled at temperature 1. */
export interface Success {
  greedy: number
  sampled: number
}

/** The result of one variant with one seed. */
export interface Result extends Success {
  variant: string
  seed: number
  /** Over all training steps, while sampling. */
  curve: number[]
  /** Means over the last ten steps. */
  entropy: number
  clipFraction: number
  gradientNorm: number
  responseTokens: number
}

function openJob(
  path: string,
  { backend, seed, settings }: { backend: LocalBackend; seed: number; settings: PolicySettings },
): Job<ReasoningTask> {
  mkdirSync(path, { recursive: true })
  return createJob({
    options: {
      command: 'ablation',
      folder: { path },
      seed,
      environment: createReasoningEnvironment(),
      tasks,
      tokenizer,
      backend: () => Promise.resolve(createModel()),
      reward: reasoningReward(),
      algorithm: optimisePolicy(settings),
      plan,
    },
    backend,
    folder: openRunFolder({ path }),
    state: initialState(),
    emit: () => {},
    signal: undefined,
  })
}

async function successOf(job: Job<ReasoningTask>): Promise<Success> {
  const { environment, plan } = job.options
  const share = async (temperature: number): Promise<number> => {
    const episodes = await evaluatePolicy({
      name: `test/${temperature}`,
      tasks: heldOutTasks(tasks, 'test', testTasks),
      actor: actorOf(job, temperature),
      environment,
      limits: plan.limits,
    })
    const judged = episodes.filter(isJudged)
    return judged.filter((episode) => episode.success === true).length / judged.length
  }
  return { greedy: await share(0), sampled: await share(1) }
}

/** The warm start shared by all variants. @returns the folder of its weights, and its score. */
export async function warmStart(
  root: string,
  backend: LocalBackend,
): Promise<{ weights: string; success: Success }> {
  const job = openJob(join(root, 'warm'), { backend, seed: 0, settings: variants['grpo-damped'] })
  const weights = job.folder.file('checkpoints', 'warm')
  if (existsSync(weights)) await job.backend.load(weights)
  else {
    job.state.phase = 'warm-start'
    const demonstrations = await collectDemonstrations(job)
    const steps = plan.warmStart.epochs * Math.ceil(demonstrations.length / plan.warmStart.batch)
    await runSupervised(job, 'warm-start', demonstrations, plan.warmStart, { steps })
    job.backend.resetOptimizer?.()
    await saveWeights(job.folder, job.backend, 'warm')
  }
  return { weights, success: await successOf(job) }
}

/** Trains one variant from the warm start and evaluates it. */
export async function playVariant(
  root: string,
  { variant, seed, warm, backend }: { variant: string; seed: number; warm: string; backend: LocalBackend },
): Promise<Result> {
  const path = join(root, `${variant}-${seed}`)
  rmSync(path, { recursive: true, force: true })
  const job = openJob(path, { backend, seed, settings: variants[variant] })
  const { state, folder } = job
  state.phase = 'rl'
  await backend.load(warm)
  // A reference model, if needed, loads the warm start's folder.
  state.warmStart = 'warm'
  await saveWeights(folder, backend, 'warm')
  await runReinforcement(job, () => Promise.resolve([]))
  const success = await successOf(job)
  const rows = folder.lines('metrics.jsonl').map((line) => (JSON.parse(line) as MetricsRecord).metrics)
  const last = (name: string): number =>
    average(rows.slice(-10).flatMap((row) => (name in row ? [row[name]] : [])))
  return {
    variant,
    seed,
    ...success,
    curve: rows.map((row) => row['success']),
    entropy: last('entropy'),
    clipFraction: last('clipFraction'),
    gradientNorm: last('gradientNorm'),
    responseTokens: last('responseTokens'),
  }
}
