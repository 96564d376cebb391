import { trainedTokens } from '../algorithm/index.ts'
import type { EpisodeGroup } from '../algorithm/index.ts'
import type { Task } from '../agent/index.ts'
import { encodeEpisode } from '../episode/index.ts'
import { isJudged, mean, summariseEpisodes } from '../evaluation/index.ts'
import { measureExploit, score } from '../reward/index.ts'
import { createTaskSampler, rolloutGroups } from '../rollout/index.ts'
import type { TaskSampler } from '../rollout/index.ts'
import { actorOf, charge, evaluate, journaled, record, worldBroken } from './job.ts'
import type { Job } from './job.ts'
import { optimStepAt } from './learning-rate.ts'

/**
 * Reinforcement learning for a fixed number of steps: draw tasks, play groups of episodes in lockstep, score them,
 * let the algorithm say what to learn, update.
 */
export async function runReinforcement<T extends Task>(job: Job<T>): Promise<void> {
  const { options, state, emit } = job
  const { reinforcement: settings, checkpointEvery, tasks } = options.plan
  const sampler = createTaskSampler({
    source: options.tasks,
    split: 'train',
    seed: options.seed,
    prior: state.prior,
  })
  if (state.sampler !== null) sampler.restore(state.sampler)
  emit({ type: 'phase', name: 'rl', total: settings.steps })
  for (;;) {
    const due = settings.validateEvery > 0 && state.step > 0 && state.step % settings.validateEvery === 0
    if (due && state.validated !== state.step) {
      const { summary } = await evaluate(job, 'rl-validation', 'validation', tasks.validation)
      state.validated = state.step
      record(job, 'rl-validation', 0, null, { success: summary.success.mean, masked: summary.masked })
    }
    if (state.step >= settings.steps) return
    await reinforce(job, sampler)
    if (state.step % checkpointEvery === 0) await job.checkpoint()
  }
}

async function reinforce<T extends Task>(job: Job<T>, sampler: TaskSampler<T>): Promise<void> {
  const { options, state, backend, folder, signal } = job
  const { reinforcement: settings, limits } = options.plan
  const started = performance.now()
  const abort = signal === undefined ? {} : { signal }
  backend.clearCache?.()
  const tasks = sampler.draw(settings.groups)
  const all = await journaled(job, 'groups', async () => {
    const played = await rolloutGroups({
      name: `rl/${state.step}`,
      tasks,
      groupSize: settings.groupSize,
      actor: actorOf(job, settings.temperature),
      world: options.world,
      limits,
      ...abort,
    })
    return played.flat()
  })
  const episodes = tasks.map((_, at) => all.slice(at * settings.groupSize, (at + 1) * settings.groupSize))
  const judged = all.filter(isJudged)
  if (judged.length === 0) throw worldBroken(all)
  const sampled = performance.now()

  const groups: EpisodeGroup[] = episodes.map((members) => ({
    episodes: members,
    rewards: members.map((episode) => score(options.reward, episode)?.value ?? null),
  }))
  const learned = await learn(job, groups)

  groups.forEach(({ episodes: members }, at) => {
    const counted = members.filter(isJudged)
    if (counted.length > 0)
      sampler.observe(tasks[at], mean(counted.map((episode) => Number(episode.success))))
  })
  // From here on the step is done: everything below happens without waiting for anything.
  state.sampler = sampler.state()
  state.step++
  job.settled = true
  charge(job, all)
  const exploit = measureExploit(options.reward, all)
  state.exploit.judged += exploit.judged
  state.exploit.failed += exploit.failed
  state.exploit.paidToFailed += exploit.paidToFailed
  const kept = episodes.slice(0, settings.recordGroups ?? 2).flat()
  folder.append('episodes.jsonl', kept.map(encodeEpisode))

  const summary = summariseEpisodes(all)
  const tokens = all.reduce((sum, episode) => sum + trainedTokens(episode), 0)
  const seconds = (performance.now() - started) / 1000
  const rewards = groups.flatMap((group) => group.rewards).filter((reward) => reward !== null)
  record(job, 'rl', seconds, settings.steps, {
    reward: mean(rewards),
    success: summary.success.mean,
    ...Object.fromEntries(Object.entries(sampler.families).map(([name, value]) => [`family:${name}`, value])),
    calls: summary.calls,
    invalidCalls: summary.invalidCalls,
    masked: summary.masked,
    brokenOff: judged.filter((episode) => episode.status === 'failed').length / judged.length,
    paidToFailed: exploit.share,
    tokens,
    tokensPerSecond: tokens / ((sampled - started) / 1000),
    sampleSeconds: (sampled - started) / 1000,
    toolSeconds: Math.max(...all.map((episode) => episode.timing.toolSeconds)),
    ...learned,
  })
}

/** The updates of one batch; figures of several minibatches are averaged. */
async function learn<T extends Task>(
  job: Job<T>,
  groups: readonly EpisodeGroup[],
): Promise<Record<string, number>> {
  const { options, state, backend, signal } = job
  const { reinforcement: settings } = options.plan
  const count = Math.min(settings.minibatches ?? 1, groups.length)
  const size = Math.ceil(groups.length / count)
  const rows: Record<string, number>[] = []
  for (let start = 0; start < groups.length; start += size) {
    const update = options.algorithm(groups.slice(start, start + size))
    if (update.sequences.length === 0) {
      rows.push(update.metrics)
      continue
    }
    const report = await backend.forwardBackward(
      update.sequences,
      update.loss,
      signal === undefined ? {} : { signal },
    )
    const step = optimStepAt(settings, state.step, state.step / settings.steps)
    job.settled = false
    const { gradientNorm } = await backend.optimStep(step)
    const { loss, meanRatio, clipFraction, kl, entropy } = report
    const figures = {
      loss,
      meanRatio,
      clipFraction,
      kl,
      entropy,
      gradientNorm,
      learningRate: step.learningRate,
    }
    rows.push({ ...update.metrics, ...figures })
  }
  const names = new Set(rows.flatMap((row) => Object.keys(row)))
  return Object.fromEntries(
    [...names].map((name) => [name, mean(rows.flatMap((row) => (name in row ? [row[name]] : [])))]),
  )
}
