import { optimisePolicy } from '../../algorithm/policy-optimisation/optimise-policy.ts'
import { policyPresets } from '../../algorithm/policy-optimisation/presets.ts'
import type { Algorithm, EpisodeGroup, LearningContext } from '../../algorithm/types.ts'
import { AgogeError } from '../../../error.ts'
import type { Episode } from '../../episode/types.ts'
import { isJudged } from '../../evaluation/summarise.ts'
import { mean } from '../../../statistics/statistics.ts'
import { forwardBackward } from '../../backend/custom-loss.ts'
import { scoreSequences, sequenceEntropies } from '../../backend/loss-report.ts'
import type { ModelBackend } from '../../model-backend.ts'
import { score } from '../../reward/score.ts'
import { taskReward } from '../../reward/task-reward.ts'
import type { RewardFunction } from '../../reward/types.ts'
import { rolloutAgent } from '../../rollout/agents/rollout-agent.ts'
import type { AgentRolloutOptions, AgentTask } from '../../rollout/agents/rollout-agent.ts'
import { optimStepAt } from '../kernel.ts'
import type { OptimiserSettings } from '../kernel.ts'

export interface TrainAgentOptions<T extends AgentTask, R>
  extends Omit<AgentRolloutOptions<T, R>, 'tasks' | 'name' | 'backend'>, OptimiserSettings {
  backend: ModelBackend
  /** The tasks of a step (from 0). */
  tasks: (step: number) => readonly T[]
  /** Episodes of each task, which are compared with each other. Default 8. */
  groupSize?: number
  steps: number
  /** Default: success. */
  reward?: RewardFunction
  /** Default: the preset `grpo-damped`. */
  algorithm?: Algorithm
  onStep?: (step: AgentStep) => void
}

/** What came of a step. */
export interface AgentStep {
  step: number
  /** Means over the episodes that could be judged. */
  reward: number
  success: number
  masked: number
  /** Of the algorithm and of its loss. */
  metrics: Record<string, number>
  groups: readonly EpisodeGroup[]
}

/**
 * Reinforcement learning for an agent of the user's own: each step plays its tasks in groups, scores them and updates the model that
 * the agent calls. The same seed gives the same course where the agent itself is deterministic. Checkpoints are the caller's:
 * `onStep` may call `backend.save`.
 *
 * @returns the curve, one entry a step.
 * @throws AgogeError `world-broken` where no episode of a step could be judged, naming the first reason.
 */
export async function trainAgent<T extends AgentTask, R>(
  options: TrainAgentOptions<T, R>,
): Promise<AgentStep[]> {
  const { backend, tasks, steps, groupSize = 8, reward = taskReward({}), onStep, signal } = options
  const algorithm = options.algorithm ?? optimisePolicy(policyPresets['grpo-damped'].settings)
  const abort = signal === undefined ? {} : { signal }
  const context: LearningContext = {
    reference: noReference,
    trainer: (sequences) => scoreSequences(backend, sequences, abort),
    entropies: (sequences) => sequenceEntropies(backend, sequences, abort),
    demonstrations: [],
    memory: {},
  }
  const curve: AgentStep[] = []
  for (let step = 0; step < steps; step++) {
    const played = await rolloutAgent({ ...options, tasks: tasks(step), groupSize, name: `step/${step}` })
    const groups = played.map((episodes) => ({
      episodes,
      rewards: episodes.map((episode) => score(reward, episode)?.value ?? null),
    }))
    const all = played.flat()
    const judged = all.filter(isJudged)
    if (judged.length === 0) throw broken(all)
    const update = await algorithm(groups, context)
    const metrics: Record<string, number> = { ...update.metrics }
    if (update.sequences.length > 0) {
      const { loss, meanRatio, kl, clipFraction } = await forwardBackward(
        backend,
        update.sequences,
        update.loss,
        abort,
      )
      const { gradientNorm } = await backend.optimStep(optimStepAt(options, step, step / steps))
      Object.assign(metrics, { loss, meanRatio, kl, clipFraction })
      if (gradientNorm !== undefined) metrics['gradientNorm'] = gradientNorm
    }
    const done: AgentStep = {
      step,
      reward: mean(groups.flatMap(({ rewards }) => rewards.filter((value) => value !== null))),
      success: mean(judged.map(({ success }) => Number(success))),
      masked: all.length - judged.length,
      metrics,
      groups,
    }
    curve.push(done)
    onStep?.(done)
  }
  return curve
}

function noReference(): never {
  throw new AgogeError('This algorithm asks for a frozen reference policy, which is not kept here.', {
    code: 'no-reference',
    expected: 'an algorithm without a divergence from a reference',
    hint: 'load the checkpoint into a backend of its own and call `forward` in a loss of your own',
  })
}

function broken(episodes: readonly Episode[]): AgogeError {
  return new AgogeError(
    `All of ${episodes.length} episodes were masked: the agent or its tools do not work.`,
    {
      code: 'environment-broken',
      given: episodes.find(({ error }) => error !== undefined)?.error,
      expected: 'at least one episode that came to an end and was judged',
    },
  )
}
