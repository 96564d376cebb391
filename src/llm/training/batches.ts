import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { damagedFile, readChecked, writeChecked } from '../../runs/checksums.ts'
import { parseForeignObject } from '../../untrusted/foreign-json.ts'
import { isRecord } from '../../untrusted/schema-check.ts'
import type { Task } from '../agent/types.ts'
import { informativeGroups } from '../algorithm/advantages/group.ts'
import type { EpisodeGroup } from '../algorithm/types.ts'
import { decodeEpisode, encodeEpisode } from '../episode/codec.ts'
import type { Episode } from '../episode/types.ts'
import { recordedScore, scoreGroups } from '../reward/reward.ts'
import { rolloutGroups } from '../rollout/collect.ts'
import { actorOf, type Job, journaled } from './job.ts'
import { pendingFile } from './state.ts'
import type { BatchTasks, TrainableBackend, TrainingPlan } from './types.ts'

/** A task that the policy played several times. */
interface PlayedGroup<T extends Task> {
  task: T
  episodes: Episode[]
  /** The greedy episode of the same task, if the plan asks for one. */
  greedy?: Episode
  /** False for a zero-variance group that was replaced by another. */
  used: boolean
}

/** The episodes of one step. */
export interface Batch<T extends Task> {
  groups: PlayedGroup<T>[]
  /** Seconds it took to sample. */
  seconds: number
  /** The step whose weights sampled the batch: the number of steps done before. */
  sampledAt: number
}

export function batchEpisodes<T extends Task>({ groups }: Batch<T>): Episode[] {
  return groups.flatMap(({ episodes, greedy }) => [...episodes, ...(greedy === undefined ? [] : [greedy])])
}

/** A group as the algorithm receives it: its episodes and their scores. */
export function rewardedGroup<T extends Task>({ episodes, greedy }: PlayedGroup<T>): EpisodeGroup {
  const valueOf = (episode: Episode): number | null => recordedScore(episode)?.value ?? null
  return {
    episodes,
    rewards: episodes.map(valueOf),
    ...(greedy === undefined ? {} : { greedyReward: valueOf(greedy) }),
  }
}

/**
 * Plays each task several times in lockstep. Replaces groups whose members all got the same reward, up to the plan's number of
 * times.
 *
 * @param number of the batch, from 0. It keys all random streams of the batch.
 */
async function sampleBatch<T extends Task>(
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

/** Marks the groups with variance as used, up to the wanted number. @returns how many are missing. */
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
    { journal: job.scores, ...defined({ signal: job.signal }) },
  )
  return groups
}

/** A batch as text, for storage until a step uses it. */
function encodeBatch<T extends Task>({ groups, seconds, sampledAt }: Batch<T>): string {
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

/** @throws AgogeError `bad-run-folder` for another object */
function readBatch(found: Readonly<Record<string, unknown>>, source: string): EncodedBatch {
  const { groups, seconds, sampledAt } = found
  const isGroup = (group: unknown): boolean =>
    isRecord(group) &&
    isRecord(group.task) &&
    Array.isArray(group.episodes) &&
    [...(group.episodes as unknown[]), group.greedy ?? ''].every((line) => typeof line === 'string')
  if (typeof seconds === 'number' && typeof sampledAt === 'number' && Array.isArray(groups))
    if (groups.every(isGroup)) return { seconds, sampledAt, groups: groups as EncodedBatch['groups'] }
  throw damagedFile(source, {
    given: Object.keys(found).join(', '),
    expected: 'a batch of groups of episodes',
  })
}

/** Restores the batch. Its tasks are regenerated by seed and kind. */
function decodeBatch<T extends Task>(text: string, job: Job<T>, source: string): Batch<T> {
  const { groups, seconds, sampledAt } = readBatch(parseForeignObject(text, source, 'bad-run-folder'), source)
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

/**
 * @throws AgogeError `bad-plan` if `overlap` is set but `maxStaleness` is 0; `unsupported-overlap` if the backend cannot sample
 *   while it trains.
 */
export function checkOverlap({ reinforcement }: TrainingPlan, backend: TrainableBackend): void {
  const { overlap = false, maxStaleness = 0 } = reinforcement
  if (!overlap) return
  if (maxStaleness < 1) {
    throw new AgogeError('Sampling and training can overlap only with maxStaleness above 0', {
      code: 'bad-plan',
      given: { overlap, maxStaleness },
      expected: 'maxStaleness of 1 or more',
      hint: 'maxStaleness: 1 keeps sampler and trainer busy as long as both take about the same time',
    })
  }
  if (backend.freeze === undefined) {
    throw new AgogeError('This backend cannot sample while it trains', {
      code: 'unsupported-overlap',
      given: { overlap },
      expected: 'a backend with `freeze`, as createLocalBackend and createTinkerBackend make them',
      hint: 'Train without overlap: maxStaleness alone gives the same batches sequentially',
    })
  }
}

/** A snapshot of the job that samples with its present weights and state. */
async function freezeJob<T extends Task>(job: Job<T>, stop: AbortSignal): Promise<Job<T>> {
  const { backend, state, signal } = job
  const { sample, weightVersion } = await backend.freeze!()
  const frozen = Object.create(backend, {
    sample: { value: sample },
    weightVersion: { value: weightVersion },
    // The cache starts empty.
    clearCache: { value: () => {} },
  }) as TrainableBackend
  return {
    ...job,
    backend: frozen,
    state: { ...state },
    signal: signal === undefined ? stop : AbortSignal.any([signal, stop]),
  }
}

interface BatchQueue<T extends Task> {
  /** Returns the batch of the current step. Starts sampling the batches that may use the present weights. */
  next(): Promise<Batch<T>>
  /** Waits for running sampling, so that the checkpoint contains everything a resumed run needs. */
  settle(): Promise<void>
  /** Aborts running sampling and waits for its end. */
  close(): Promise<void>
}

/**
 * Returns batches in the order of their numbers. Batch n is sampled with the weights of step n - `maxStaleness`, one batch after
 * another. So results are bit-identical whether sampling runs between steps or, with `overlap`, at the same time. The run folder
 * stores batches that have been sampled but not used.
 *
 * If an overlapping run is killed while a batch is being sampled, the weights of that batch are lost. The resumed run samples it
 * with its present weights and emits a note.
 */
export function createBatchQueue<T extends Task>(
  job: Job<T>,
  draw: (number: number) => BatchTasks<T>,
): BatchQueue<T> {
  const { state, folder, options } = job
  const { maxStaleness = 0, overlap = false, budget } = options.plan.reinforcement
  const steps = budget === undefined ? options.plan.reinforcement.steps : Infinity
  const batches = new Map<number, Promise<Batch<T>>>()
  const stop = new AbortController()
  const sampledBy = (step: number): number => Math.min(step + maxStaleness, steps)
  /** Settles when all started sampling has ended; never rejects. */
  let last: Promise<unknown> = Promise.resolve()
  let fault: { error: unknown } | undefined
  // After a step, all batches up to `maxStaleness` ahead are started; before the first step, none.
  let begun = state.step === 0 ? 0 : sampledBy(state.step)
  const lost = Array.from({ length: begun - state.step }, (_, i) => state.step + i).filter(
    (number) => overlap && !folder.has(pendingFile(number)),
  )

  async function begin(number: number): Promise<void> {
    const tasks = draw(number)
    const by = overlap ? await freezeJob(job, stop.signal) : job
    const batch = last.then(async () => {
      if (fault !== undefined) throw fault.error
      by.signal?.throwIfAborted()
      const sampled = await sampleBatch(by, tasks, number)
      if (maxStaleness > 0) writeChecked(folder, pendingFile(number), encodeBatch(sampled))
      return sampled
    })
    batches.set(number, batch)
    last = batch.catch((error: unknown) => (fault ??= { error }))
    if (!overlap) await batch
  }

  return {
    async next() {
      if (fault !== undefined) throw fault.error
      for (const number of lost.splice(0)) {
        const text = `batch ${number + 1} was being sampled when the run stopped: it is sampled with newer weights, so from here on this is another run than the uninterrupted one`
        job.emit({ type: 'note', text })
        await begin(number)
      }
      while (begun < Math.min(sampledBy(state.step) + 1, steps)) await begin(begun++)
      const number = state.step
      const file = pendingFile(number)
      const batch = await (batches.get(number) ??
        readChecked(folder, file, (text) => decodeBatch(text, job, folder.file(file))))
      batches.delete(number)
      return batch
    },
    async settle() {
      await last
    },
    async close() {
      stop.abort(new Error('training ended'))
      await last
    },
  }
}
