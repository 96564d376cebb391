import type { EpisodeLimits } from '../../agent/episode-state.ts'
import type { Task, TaskSource, ToolEnvironment } from '../../agent/types.ts'
import { expertMembers, type ExpertSettings } from '../../algorithm/advantages/group.ts'
import { supervised } from '../../algorithm/losses/imitation.ts'
import type { Episode } from '../../episode/types.ts'
import { average } from '../../../statistics/statistics.ts'
import type { ModelBackend } from '../../model-backend.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { scoreGroups } from '../../reward/reward.ts'
import type { Reward } from '../../reward/reward.ts'
import { taskReward } from '../../reward/rewards.ts'
import { openActor, rolloutGroups } from '../../rollout/collect.ts'
import type { ActorOptions } from '../../rollout/collect.ts'
import { optimStepAt } from '../kernel.ts'
import type { OptimiserSettings, StepTools } from '../kernel.ts'
import { runTraining, settingsOf, stepsOf, validationOf } from '../run.ts'
import type { RunOptions, ValidationOptions } from '../run.ts'

/** The learning rate decays over all rounds. Each round has its own warm-up. */
export interface ExpertIterationOptions<T extends Task>
  extends OptimiserSettings, ExpertSettings, RunOptions, ValidationOptions, ActorOptions {
  backend: ModelBackend
  environment: ToolEnvironment<T>
  tasks: TaskSource<T>
  /** Rounds of sampling, selecting and SFT. One round is rejection-sampling fine-tuning. */
  rounds: number
  /** Tasks per round, and episodes per task. */
  groups: number
  groupSize: number
  /** Passes over the selected episodes, and episodes per update. Defaults: 1 and 32. */
  epochs?: number
  batch?: number
  /** Default: 1. */
  temperature?: number
  /** Default: success. */
  reward?: Reward
  /**
   * Returns the same task with its answer included, or `null`. If all episodes of a task fail, this version is played, and its
   * successful episodes are used as solutions of the original task (STaR's rationalisation).
   */
  hint?: (task: T) => T | null
  /** A checkpoint to reload before each round's SFT, as in STaR. Default: training continues from the present weights. */
  restartFrom?: string
  limits: EpisodeLimits
  maxTokensPerTurn: number
  /** Default: 0. */
  seed?: number
  onRound?: (round: ExpertRound) => void
}

export interface ExpertRound {
  /** Starts at 1. */
  round: number
  /** Statistics of the sampled episodes, before this round's update. Episodes with hints are not counted. */
  success: number
  /** Selected episodes, and how many of them used a hint. */
  kept: number
  hinted: number
  /** Mean cross-entropy in nats per token over this round's updates; 0 if nothing was selected. */
  loss: number
}

/**
 * Expert iteration: play, select the successful episodes, fine-tune on them, repeat. Selects at most `best` episodes per task.
 * Default: 1, so that easy tasks do not fill the batch.
 *
 * Sources: ReST-EM (arXiv 2312.06585); RAFT (arXiv 2304.06767); STaR (arXiv 2203.14465) with `hint` and `restartFrom`.
 */
export async function expertIteration<T extends Task>(
  options: ExpertIterationOptions<T>,
): Promise<ExpertRound[]> {
  const { backend, tasks, rounds, groups, seed = 0, hint } = options
  const { records } = await runTraining<PlayedRound>(
    {
      name: 'expert-iteration',
      steps: rounds,
      async collect(round) {
        const random = createRandom(seed, 'expert', round)
        const drawn = Array.from({ length: groups }, () =>
          tasks.task({ split: 'train', seed: random.int(2 ** 31) }),
        )
        const played = await play(options, `expert/${round}`, drawn)
        const own = await expert(options, played)
        const given = hint === undefined ? [] : await rationalise(options, hint, round, drawn, played)
        const judged = played.flat().filter((episode) => episode.success !== null)
        const success = average(judged.map((episode) => Number(episode.success)))
        return { kept: [...own, ...given], hinted: given.length, success }
      },
      async update({ kept, hinted, success }, tools) {
        if (options.restartFrom !== undefined) await tools.restart(backend, options.restartFrom)
        const loss = kept.length === 0 ? 0 : await learnKept(options, kept, tools)
        const metrics = { success, kept: kept.length, hinted, loss }
        options.onRound?.({ round: tools.step + 1, ...metrics })
        return metrics
      },
      validation: validationOf(options),
    },
    { ...options, models: { model: backend }, settings: settingsOf(options) },
  )
  return stepsOf<{ step: number } & Omit<ExpertRound, 'round'>>(records, 'expert-iteration').map(
    ({ step, success, kept, hinted, loss }) => ({ round: step, success, kept, hinted, loss }),
  )
}

interface PlayedRound {
  /** The selected episodes, and how many of them used a hint. */
  kept: Episode[]
  hinted: number
  success: number
}

function play<T extends Task>(options: ExpertIterationOptions<T>, name: string, tasks: readonly T[]) {
  const {
    backend,
    environment,
    groupSize,
    temperature = 1,
    maxTokensPerTurn,
    limits,
    seed = 0,
    signal,
  } = options
  const actor = openActor(backend, options, { temperature, seed, maxTokensPerTurn })
  const abort = signal === undefined ? {} : { signal }
  return rolloutGroups({ name, tasks, groupSize, actor, environment, limits, ...abort })
}

/** The selected episodes of each group. */
async function expert<T extends Task>(
  options: ExpertIterationOptions<T>,
  groups: readonly Episode[][],
): Promise<Episode[]> {
  const { reward = taskReward(), threshold = 1, best = 1, signal } = options
  const rewards = await scoreGroups(reward, groups, signal === undefined ? {} : { signal })
  return expertMembers(rewards, { threshold, best }).flatMap((members, g) =>
    members.map((member) => groups[g][member]),
  )
}

/** Plays failed tasks with the hint, and restores the original prompt in the successful episodes. */
async function rationalise<T extends Task>(
  options: ExpertIterationOptions<T>,
  hint: (task: T) => T | null,
  round: number,
  tasks: readonly T[],
  played: readonly Episode[][],
): Promise<Episode[]> {
  const failed = tasks.flatMap((task, at) => {
    if (played[at].some((episode) => episode.success !== false)) return []
    const hinted = hint(task)
    const user = played[at][0].nodes.find((node) => node.role === 'user')
    return hinted === null || user === undefined ? [] : [{ hinted, user }]
  })
  if (failed.length === 0) return []
  const name = `expert/${round}/hint`
  const groups = await play(
    options,
    name,
    failed.map(({ hinted }) => hinted),
  )
  const asked = groups.map((group, at) =>
    group.map((episode) => ({
      ...episode,
      nodes: episode.nodes.map((node) =>
        node.role === 'user' ? { ...node, text: failed[at].user.text, tokens: failed[at].user.tokens } : node,
      ),
    })),
  )
  return expert(options, asked)
}

async function learnKept<T extends Task>(
  options: ExpertIterationOptions<T>,
  kept: readonly Episode[],
  tools: StepTools,
): Promise<number> {
  const { backend, epochs = 1, batch = 32, seed = 0 } = options
  const losses: number[] = []
  for (let epoch = 0; epoch < epochs; epoch++) {
    const order = createRandom(seed, 'imitate', tools.step, epoch).shuffle(kept)
    for (let start = 0; start < order.length; start += batch) {
      const chosen = order.slice(start, start + batch)
      const progress = (epoch + start / order.length) / epochs
      const step = optimStepAt(options, losses.length, (tools.step + progress) / options.rounds)
      const { loss } = await tools.apply(backend, supervised(chosen), step, () => chosen.map(({ id }) => id))
      losses.push(loss)
    }
  }
  return average(losses)
}
