import type { Task } from '../agent/types.ts'
import { informativeGroups } from '../algorithm/advantages/group.ts'
import type { EpisodeGroup } from '../algorithm/types.ts'
import { decodeEpisode, encodeEpisode } from '../episode/codec.ts'
import type { Episode } from '../episode/types.ts'
import { recordedScore, scoreGroups } from '../reward/reward.ts'
import { rolloutGroups } from '../rollout/collect.ts'
import { actorOf, journaled } from './job.ts'
import type { Job } from './job.ts'
import type { BatchTasks } from './types.ts'

/** A task that was played by the policy, several times. */
export interface PlayedGroup<T extends Task> {
  task: T
  episodes: Episode[]
  /** The same task without chance, where that is wanted. */
  greedy?: Episode
  /** False where other groups took its place because it says nothing. */
  used: boolean
}

/** What was sampled to be learnt from in one step. */
export interface Batch<T extends Task> {
  groups: PlayedGroup<T>[]
  /** Seconds it took to sample. */
  seconds: number
  /** The step whose weights sampled it: so many steps were done before. */
  sampledAt: number
}

export function batchEpisodes<T extends Task>({ groups }: Batch<T>): Episode[] {
  return groups.flatMap(({ episodes, greedy }) => [...episodes, ...(greedy === undefined ? [] : [greedy])])
}

/** What the algorithm is given of a group: its episodes with the scores that they were given when they were played. */
export function rewardedGroup<T extends Task>({ episodes, greedy }: PlayedGroup<T>): EpisodeGroup {
  const valueOf = (episode: Episode): number | null => recordedScore(episode)?.value ?? null
  return {
    episodes,
    rewards: episodes.map(valueOf),
    ...(greedy === undefined ? {} : { greedyReward: valueOf(greedy) }),
  }
}

/**
 * Plays each task several times in lockstep. Groups whose members all got the same are replaced by others, as often
 * as the plan says.
 *
 * @param number of the batch, from 0; it keys everything that is drawn.
 */
export async function sampleBatch<T extends Task>(
  job: Job<T>,
  tasks: BatchTasks<T>,
  number: number,
): Promise<Batch<T>> {
  const { resampling = 0 } = job.options.plan.reinforcement
  const started = performance.now()
  const wanted = tasks.first.length
  job.backend.clearCache?.()
  const groups = await playGroups(job, tasks.first, `rl/${number}`)
  for (let round = 1; round <= resampling; round++) {
    const missing = keepInformative(groups, wanted)
    if (missing === 0) break
    groups.push(...(await playGroups(job, tasks.more(missing), `rl/${number}.${round}`)))
  }
  if (resampling > 0) keepInformative(groups, wanted)
  return { groups, seconds: (performance.now() - started) / 1000, sampledAt: job.state.step }
}

/** Marks the groups that say something, at most as many as are wanted. @returns how many are missing. */
function keepInformative<T extends Task>(groups: PlayedGroup<T>[], wanted: number): number {
  const telling = new Set(
    informativeGroups(groups.map((group) => rewardedGroup(group).rewards)).slice(0, wanted),
  )
  for (const [at, group] of groups.entries()) group.used = telling.has(at)
  return wanted - telling.size
}

async function playGroups<T extends Task>(job: Job<T>, tasks: T[], name: string): Promise<PlayedGroup<T>[]> {
  const { groupSize, temperature, greedyBaseline } = job.options.plan.reinforcement
  const { backend, options } = job
  const signal = job.signal === undefined ? {} : { signal: job.signal }
  const play = (temperature: number, called: string, size: number): Promise<Episode[]> =>
    journaled(job, called.replaceAll('/', '-'), async () => {
      const spec = { name: called, tasks, groupSize: size, ...signal }
      const { environment, plan, program } = options
      const played =
        program === undefined
          ? rolloutGroups({ ...spec, actor: actorOf(job, temperature), environment, limits: plan.limits })
          : program.play({ ...spec, backend, temperature })
      return (await played).flat()
    })
  const all = await play(temperature, name, groupSize)
  const greedy = greedyBaseline === true ? await play(0, `${name}/greedy`, 1) : undefined
  const groups = tasks.map((task, at) => ({
    task,
    episodes: all.slice(at * groupSize, (at + 1) * groupSize),
    ...(greedy === undefined ? {} : { greedy: greedy[at] }),
    used: true,
  }))
  await scoreGroups(
    job.options.reward,
    groups.map(({ episodes, greedy }) => (greedy === undefined ? episodes : [...episodes, greedy])),
    { journal: job.scores, ...(job.signal === undefined ? {} : { signal: job.signal }) },
  )
  return groups
}

/** A batch as text, for the time until it is learnt from. */
export function encodeBatch<T extends Task>({ groups, seconds, sampledAt }: Batch<T>): string {
  return JSON.stringify({
    seconds,
    sampledAt,
    groups: groups.map(({ task, episodes, greedy, used }) => ({
      task: { seed: task.seed, kind: task.kind },
      used,
      episodes: episodes.map(encodeEpisode),
      ...(greedy === undefined ? {} : { greedy: encodeEpisode(greedy) }),
    })),
  })
}

interface EncodedBatch {
  seconds: number
  sampledAt: number
  groups: { task: { seed: number; kind: string }; used: boolean; episodes: string[]; greedy?: string }[]
}

/** The batch again; tasks come from their source, by seed and family. */
export function decodeBatch<T extends Task>(text: string, job: Job<T>, source: string): Batch<T> {
  const { groups, seconds, sampledAt } = JSON.parse(text) as EncodedBatch
  return {
    seconds,
    sampledAt,
    groups: groups.map(({ task, used, episodes, greedy }) => ({
      task: job.options.tasks.task({ split: 'train', ...task }),
      used,
      episodes: episodes.map((line) => decodeEpisode(line, source)),
      ...(greedy === undefined ? {} : { greedy: decodeEpisode(greedy, source) }),
    })),
  }
}
