import { defined } from '../../defined.ts'
import { createRandom } from '../../engine/random/index.ts'
import { AgogeError } from '../../error.ts'
import { average } from '../../statistics/statistics.ts'
import type { Task } from '../agent/types.ts'
import { informativeGroups } from '../algorithm/advantages/group.ts'
import { trainedTokens } from '../algorithm/losses/imitation.ts'
import type { EpisodeGroup, LearningContext, PolicyUpdate } from '../algorithm/types.ts'
import { scoreSequences, sequenceEntropies } from '../backend/loss-report.ts'
import { encodeEpisode } from '../episode/codec.ts'
import type { Episode } from '../episode/types.ts'
import { isJudged, summariseEpisodes } from '../evaluation/episode-statistics.ts'
import { recordedScore } from '../reward/reward.ts'
import { createTaskSampler, type TaskSampler } from '../rollout/task-sampler.ts'
import { type Batch, batchEpisodes, createBatchQueue, rewardedGroup } from './batches.ts'
import { charge, environmentBroken, evaluate, type Job } from './job.ts'
import { fallenKinds } from './falling-kinds.ts'
import { runPart, type StepMetrics, type StepTools, type Validation } from './kernel.ts'
import type { LoopState } from './state.ts'
import { avoiding, withoutDropped } from './dropped-tasks.ts'
import { demonstrationTasks } from './fine-tune.ts'
import { limitSteps } from './time-limit.ts'
import { budgetedValidation, countTokens, usedShare } from './token-budget.ts'
import type { BatchTasks, TrainableBackend, TrainingPlan } from './types.ts'

/** What learning needs besides the batch. Opened on first use. */
interface Learner {
  /** Makes the updates of one batch. Averages their metrics. */
  learn(groups: readonly EpisodeGroup[], tools: StepTools): Promise<Record<string, number>>
  dispose(): Promise<void>
}

/**
 * Calls the algorithm for each minibatch, always under the batch's initial weights, and applies the updates in turn, for the
 * plan's number of passes.
 *
 * @param demonstrations all of them, for plans that mix some in.
 */
function createPhaseLearner<T extends Task>(
  job: Job<T>,
  demonstrations: () => Promise<readonly Episode[]>,
): Learner {
  const { options, state, backend, signal } = job
  const settings = options.plan.reinforcement
  const abort = signal === undefined ? {} : { signal }
  let reference: Promise<TrainableBackend> | undefined
  /** Tokens that were scored for the present batch. They count once its updates are made. */
  let scored = 0
  const counting = <S extends readonly { tokens: ArrayLike<number> }[]>(sequences: S): S => {
    scored += sequences.reduce((sum, { tokens }) => sum + tokens.length, 0)
    return sequences
  }

  /** The initial policy of RL, in a backend of its own. */
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
    tools: StepTools,
  ): Promise<LearningContext> => ({
    batch,
    tokenLimit: tokenLimitOf(options.plan),
    reference: async (sequences) =>
      scoreSequences(await (reference ??= openReference()), counting(sequences), abort),
    trainer: (sequences) => scoreSequences(backend, counting(sequences), abort),
    entropies: (sequences) => sequenceEntropies(backend, counting(sequences), abort),
    demonstrations: await shown(minibatch),
    memory,
    move: (model) => tools.move(model, tools.schedule(settings)),
  })

  return {
    async learn(groups, tools) {
      // A failed step must not change the saved state of the algorithm.
      const memory = { ...state.memory }
      scored = 0
      const size = Math.ceil(groups.length / Math.min(settings.minibatches ?? 1, groups.length))
      const updates: { update: PolicyUpdate; members: readonly EpisodeGroup[] }[] = []
      for (let start = 0; start < groups.length; start += size) {
        const members = groups.slice(start, start + size)
        updates.push({
          update: await options.algorithm(members, await contextOf(groups, start / size, memory, tools)),
          members,
        })
      }
      const rows: Record<string, number>[] = []
      for (let epoch = 0; epoch < (settings.epochs ?? 1); epoch++)
        for (const { update, members } of updates)
          // If weights were corrected, the algorithm has measured the mismatch and the loss sees none.
          rows.push({ ...(await apply(tools, update, members, rows.length === 0)), ...update.metrics })
      if (Object.keys(memory).length > 0) state.memory = memory
      countTokens(state, scored)
      const names = new Set(rows.flatMap((row) => Object.keys(row)))
      return Object.fromEntries(
        [...names].map((name) => [name, average(rows.flatMap((row) => (name in row ? [row[name]] : [])))]),
      )
    },
    async dispose() {
      await (await reference)?.dispose?.()
    },
  }

  /** Before the first update of a batch, a difference between trainer and sampler is not caused by this batch. */
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
      // Metrics that a server does not report are left out.
      ...(Number.isNaN(entropy) ? {} : { entropy }),
      ...defined({ gradientNorm }),
      learningRate: step.learningRate,
      ...(first ? { mismatch: meanDifference, mismatchKl: kl, mismatchMaxRatio: maxRatio } : {}),
    }
  }
}

/** Maximum tokens of the policy in an episode. The context window may end the episode earlier. */
function tokenLimitOf({ limits, maxTokensPerTurn }: TrainingPlan): number {
  return Math.min(limits.turns * maxTokensPerTurn, limits.totalTokens ?? Infinity)
}

/**
 * Reinforcement learning for a fixed number of steps: draw tasks, play groups of episodes in lockstep, score them, compute the
 * algorithm's update, apply it.
 *
 * @param demonstrations all of them, for plans that mix some into the updates.
 */
export async function runReinforcement<T extends Task>(
  job: Job<T>,
  demonstrations: () => Promise<readonly Episode[]>,
): Promise<void> {
  const { options, state } = job
  const { reinforcement: settings, tasks } = options.plan
  // What was demonstrated is known by heart: groups of such a task hardly differ, and its success does not generalise.
  const shown = new Set(options.program === undefined ? demonstrationTasks(options).map(({ id }) => id) : [])
  const source = avoiding(withoutDropped(options.tasks, state), ({ id }) => shown.has(id))
  const sampler = createTaskSampler({
    source,
    split: 'train',
    seed: options.seed,
    prior: state.prior,
    ...defined({ kindWeights: settings.kindWeights }),
  })
  if (state.sampler !== null) sampler.restore(state.sampler)
  /** Replacement groups are drawn by the statistics before this batch, so that updates in between have no effect. */
  function draw(number: number): BatchTasks<T> {
    if (options.program !== undefined) return options.program.draw(number)
    const { groups, maxStaleness = 0 } = settings
    const known = sampler.state()
    const first = sampler.draw(groups)
    if (maxStaleness === 0) return { first, more: (count) => sampler.draw(count) }
    const seed = `${options.seed}/replacements/${number}`
    const others = createTaskSampler({
      source,
      split: 'train',
      seed,
      ...defined({ kindWeights: settings.kindWeights }),
    })
    others.restore({ ...known, drawn: 0 })
    return { first, more: (count) => others.draw(count) }
  }
  const queue = createBatchQueue(job, draw)
  const learner = createPhaseLearner(job, demonstrations)
  const limit = limitSteps(job)
  const { validateEvery, budget } = settings
  const validation: Validation = {
    measure: 'success',
    // Where the best weights are kept, the initial ones and the last ones are candidates.
    isDue: (step, isOver) =>
      validateEvery > 0 && (step % validateEvery === 0 || isOver) && (step > 0 || settings.keep === 'best'),
    async score() {
      // The warm start was chosen for its luck with the first tasks, which RL would have to beat.
      const from = settings.keep === 'best' ? tasks.validation : 0
      const { summary } = await limit.validating(() =>
        evaluate(job, 'rl-validation', 'validation', tasks.validation, from),
      )
      for (const text of fallenKinds(state, summary.kindEstimates)) job.emit({ type: 'note', text })
      return { score: summary.success.mean, metrics: { masked: summary.masked } }
    },
    keep: settings.keep ?? 'last',
  }
  try {
    await runPart(
      {
        name: 'rl',
        get steps() {
          return budget === undefined ? limit.steps() : null
        },
        ...(budget !== undefined && { progress: () => usedShare(state, budget) }),
        collect(step) {
          limit.onStep(step)
          return queue.next()
        },
        update: (batch, tools) => reinforce(job, { sampler, learner, batch, tools }),
        validation: budget === undefined ? validation : budgetedValidation(state, budget, validation),
        settle: () => queue.settle(),
      },
      job,
    )
    if (budget !== undefined) state.rlSteps = state.step
  } finally {
    await queue.close()
    await learner.dispose()
  }
}

async function reinforce<T extends Task>(
  job: Job<T>,
  {
    sampler,
    learner,
    batch,
    tools,
  }: { sampler: TaskSampler<T>; learner: Learner; batch: Batch<T>; tools: StepTools },
): Promise<StepMetrics> {
  const { options, state, folder } = job
  const { reinforcement: settings } = options.plan
  const played = batch.groups.map((group) => ({ ...group, ...rewardedGroup(group) }))
  const all = played.flatMap(({ episodes }) => episodes)
  const judged = all.filter(isJudged)
  if (judged.length === 0) throw environmentBroken(all)
  const rewards = played.flatMap((group) => group.rewards).filter((reward) => reward !== null)
  if (rewards.length === 0) throw rewardBroken(judged)
  // Judged by the environment but not by the reward: counted in the success rate and in no gradient.
  const unscored = judged.filter((episode) => recordedScore(episode)?.value === null).length

  // Age of the oldest token, in training steps and in weight updates.
  const staleness = state.step - batch.sampledAt
  const weightLag = weightLagOf(job.backend.weightVersion, all)
  const used = played.filter((group) => group.used)
  const learned = used.length === 0 ? {} : await learner.learn(used, tools)

  for (const { task, episodes } of options.program === undefined ? played : []) {
    const counted = episodes.filter(isJudged)
    if (counted.length > 0) sampler.observe(task, average(counted.map((episode) => Number(episode.success))))
  }
  // The step is done from here on. No await below.
  state.sampler = sampler.state()
  charge(job, batchEpisodes(batch))
  state.signal = addSignal(
    state.signal,
    played.map(({ rewards }) => rewards),
    judged,
  )
  const kept = played.slice(0, settings.recordGroups ?? 2).flatMap(({ episodes }) => episodes)
  folder.append('episodes.jsonl', kept.map(encodeEpisode))

  const summary = summariseEpisodes(all)
  const tokens = all.reduce((sum, episode) => sum + trainedTokens(episode), 0)
  const metrics = {
    reward: average(rewards),
    success: summary.success.mean,
    ...Object.fromEntries(
      Object.entries(options.program === undefined ? sampler.kinds : {}).map(([name, value]) => [
        `family:${name}`,
        value,
      ]),
    ),
    calls: summary.calls,
    invalidCalls: summary.invalidCalls,
    masked: summary.masked,
    ...(unscored === 0 ? {} : { unscored }),
    brokenOff: judged.filter((episode) => episode.status === 'failed').length / judged.length,
    tokens,
    responseTokens: tokens / all.length,
    tokensPerSecond: tokens / batch.seconds,
    sampleSeconds: batch.seconds,
    toolSeconds: Math.max(...all.map((episode) => episode.timing.toolSeconds)),
    ...(settings.resampling === undefined ? {} : { groupsReplaced: played.length - used.length }),
    ...(settings.maxStaleness === undefined ? {} : { staleness }),
    ...(settings.maxStaleness === undefined || weightLag === undefined ? {} : { weightLag }),
    ...learned,
  }
  options.program?.onGroups?.(state.step, played, metrics)
  return metrics
}

/** The error if no episode of a batch has a reward. */
function rewardBroken(episodes: readonly Episode[]): AgogeError {
  return new AgogeError(`None of ${episodes.length} episodes could be scored: the reward does not work`, {
    code: 'reward-broken',
    given: recordedScore(episodes[0])?.reason,
    expected: 'at least one episode with a score',
    hint: 'Repair what the message names, then use --resume: all finished steps are kept',
  })
}

/** Adds one step to the count of groups with reward variance. */
function addSignal(
  { groups, groupsWithSignal, judged, failed }: NonNullable<LoopState['signal']> = {
    groups: 0,
    groupsWithSignal: 0,
    judged: 0,
    failed: 0,
  },
  rewards: readonly (readonly (number | null)[])[],
  episodes: readonly Episode[],
): NonNullable<LoopState['signal']> {
  return {
    groups: groups + rewards.length,
    groupsWithSignal: groupsWithSignal + informativeGroups(rewards).length,
    judged: judged + episodes.length,
    failed: failed + episodes.filter(({ success }) => success !== true).length,
  }
}

/** Updates since the oldest token was sampled, if known. */
function weightLagOf(now: number | undefined, episodes: readonly Episode[]): number | undefined {
  if (now === undefined) return undefined
  const sampled = episodes.flatMap(({ samples }) => samples)
  return sampled.reduce((most, { weightVersion }) => Math.max(most, now - weightVersion), 0)
}
