import type { Task } from '../agent/types.ts'
import type { EpisodeGroup, LearningContext, PolicyUpdate } from '../algorithm/types.ts'
import type { Episode } from '../episode/types.ts'
import { mean } from '../../statistics/statistics.ts'
import { scoreSequences, sequenceEntropies } from '../backend/loss-report.ts'
import { createRandom } from '../../engine/random/index.ts'
import type { Job } from './job.ts'
import type { StepTools } from './kernel.ts'
import type { TrainableBackend, TrainingPlan } from './types.ts'

/** What learning needs beside the batch: opened when first asked for. */
export interface Learner {
  /** The updates of one batch; figures of several are averaged. */
  learn(groups: readonly EpisodeGroup[], tools: StepTools): Promise<Record<string, number>>
  dispose(): Promise<void>
}

/**
 * Asks the algorithm what each minibatch teaches, all of them under the weights that the batch began with, and applies the
 * updates in turn, as often as the plan says.
 *
 * @param demonstrations all there are, for plans in which some are mixed in.
 */
export function createLearner<T extends Task>(
  job: Job<T>,
  demonstrations: () => Promise<readonly Episode[]>,
): Learner {
  const { options, state, backend, signal } = job
  const settings = options.plan.reinforcement
  const abort = signal === undefined ? {} : { signal }
  let reference: Promise<TrainableBackend> | undefined

  /** The policy as it was when RL began, in a backend of its own. */
  async function openReference(): Promise<TrainableBackend> {
    const weights = state.warmStart === null ? null : job.folder.file('checkpoints', state.warmStart)
    if (options.program !== undefined && weights !== null) return options.program.reference(weights)
    const frozen = await options.backend()
    if (weights !== null) await frozen.load(weights)
    return frozen
  }

  async function shown(minibatch: number): Promise<readonly Episode[]> {
    const { demonstrations: count = 0 } = settings
    if (count === 0) return []
    const random = createRandom(options.seed, 'imitation', state.step, minibatch)
    return random.shuffle(await demonstrations()).slice(0, count)
  }

  const contextOf = async (
    batch: readonly EpisodeGroup[],
    minibatch: number,
    memory: Record<string, number>,
  ): Promise<LearningContext> => ({
    batch,
    tokenLimit: tokenLimitOf(options.plan),
    reference: async (sequences) => scoreSequences(await (reference ??= openReference()), sequences, abort),
    trainer: (sequences) => scoreSequences(backend, sequences, abort),
    entropies: (sequences) => sequenceEntropies(backend, sequences, abort),
    demonstrations: await shown(minibatch),
    memory,
  })

  return {
    async learn(groups, tools) {
      // What a step that fails has remembered must not be saved.
      const memory = { ...state.memory }
      const size = Math.ceil(groups.length / Math.min(settings.minibatches ?? 1, groups.length))
      const updates: { update: PolicyUpdate; members: readonly EpisodeGroup[] }[] = []
      for (let start = 0; start < groups.length; start += size) {
        const members = groups.slice(start, start + size)
        updates.push({
          update: await options.algorithm(members, await contextOf(groups, start / size, memory)),
          members,
        })
      }
      const rows: Record<string, number>[] = []
      for (let epoch = 0; epoch < (settings.epochs ?? 1); epoch++)
        for (const { update, members } of updates)
          // Where weights were corrected, the algorithm has measured the mismatch, and the loss sees none.
          rows.push({ ...(await apply(tools, update, members, rows.length === 0)), ...update.metrics })
      if (Object.keys(memory).length > 0) state.memory = memory
      const names = new Set(rows.flatMap((row) => Object.keys(row)))
      return Object.fromEntries(
        [...names].map((name) => [name, mean(rows.flatMap((row) => (name in row ? [row[name]] : [])))]),
      )
    },
    async dispose() {
      await (await reference)?.dispose?.()
    },
  }

  /** Before the first update of a batch, what trainer and sampler disagree in is not this batch's doing. */
  async function apply(
    tools: StepTools,
    update: PolicyUpdate,
    members: readonly EpisodeGroup[],
    first: boolean,
  ): Promise<Record<string, number>> {
    if (update.sequences.length === 0) return {}
    const step = tools.schedule(settings)
    const report = await tools.apply(backend, update, step, () =>
      members.flatMap(({ episodes }) => episodes.map(({ id }) => id)),
    )
    const { loss, meanRatio, clipFraction, kl, entropy, gradientNorm, metrics = {} } = report
    const { meanDifference = 0, maxRatio = 0 } = report
    return {
      ...metrics,
      loss,
      meanRatio,
      clipFraction,
      kl,
      // What a server does not tell is left out.
      ...(Number.isNaN(entropy) ? {} : { entropy }),
      ...(gradientNorm === undefined ? {} : { gradientNorm }),
      learningRate: step.learningRate,
      ...(first ? { mismatch: meanDifference, mismatchKl: kl, mismatchMaxRatio: maxRatio } : {}),
    }
  }
}

/** What the policy can write in an episode; the window, which holds more than that, may end it earlier. */
function tokenLimitOf({ limits, maxTokensPerTurn }: TrainingPlan): number {
  return Math.min(limits.turns * maxTokensPerTurn, limits.totalTokens ?? Infinity)
}
