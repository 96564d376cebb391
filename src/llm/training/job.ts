import type { Actor, Task } from '../agent/types.ts'
import { AgogeError } from '../../error.ts'
import { decodeEpisode, encodeEpisode } from '../episode/codec.ts'
import type { Episode } from '../episode/types.ts'
import type { EpisodeSummary } from '../evaluation/episode-statistics.ts'
import { addReasons, isJudged, reasonsText, summariseEpisodes } from '../evaluation/episode-statistics.ts'
import { evaluatePolicy, heldOutTasks, openActor } from '../rollout/collect.ts'
import { isDropped } from './dropped-tasks.ts'
import { checkedLines, forgetChecked, hasChecked, writeChecked } from '../../runs/checksums.ts'
import { metricsFile } from '../../runs/metrics.ts'
import type { RunFolder } from '../../runs/run-folder.ts'
import { currentCheckpoint } from '../../runs/run-store.ts'
import type { TrainingRun } from './kernel.ts'
import { createScoreJournal } from '../reward/reward.ts'
import type { ScoreJournal } from '../reward/reward.ts'
import type { LoopState } from './state.ts'
import { saveCheckpoint, saveWeights } from './state.ts'
import { countTokens, playedTokens, trainedWeight } from './token-budget.ts'
import type { ProgramRollout, TrainableBackend, TrainJobOptions } from './types.ts'

/** A running job: the state that its phases share, and the folder that stores it. */
export interface Job<T extends Task> extends TrainingRun {
  options: TrainJobOptions<T>
  backend: TrainableBackend
  folder: RunFolder
  state: LoopState
  /** Scores of slow rewards since the last checkpoint. */
  scores: ScoreJournal
  /** Seconds since this phase began, including earlier processes. */
  phaseSeconds(): number
}

export function createJob<T extends Task>(
  fields: Pick<Job<T>, 'options' | 'backend' | 'folder' | 'state' | 'emit' | 'signal'>,
): Job<T> {
  const { state, folder, backend, emit, options } = fields
  let last = performance.now()
  const clock = (): void => {
    const now = performance.now()
    state.seconds += (now - last) / 1000
    state.phaseSeconds += (now - last) / 1000
    last = now
  }
  return {
    ...fields,
    scores: createScoreJournal(folder, `${journal}/scores.jsonl`),
    weightsMatchState: true,
    checkpointEvery: options.plan.checkpointEvery,
    record(phase, seconds, total, metrics) {
      folder.append(metricsFile, [JSON.stringify({ phase, step: state.step, seconds, metrics })])
      emit({ type: 'step', phase, step: state.step, total, seconds, metrics })
    },
    saveWeights: (name) => saveWeights(folder, backend, name),
    loadWeights: (name) => backend.load(folder.file('checkpoints', name)),
    clearCaches: () => backend.clearCache?.(),
    countTrained: (tokens) => countTokens(state, trainedWeight * tokens),
    lastWeights() {
      const name = currentCheckpoint(folder)
      return name === null ? null : folder.file('checkpoints', name)
    },
    phaseSeconds() {
      clock()
      return state.phaseSeconds
    },
    async checkpoint() {
      clock()
      await saveCheckpoint(folder, backend, state)
      folder.remove(journal)
      forgetChecked(folder, journal)
    },
  }
}

/** The policy of the job at this temperature; 0 is greedy. */
export function actorOf<T extends Task>({ options, backend }: Job<T>, temperature: number): Actor {
  const { seed, plan } = options
  return openActor(backend, options, { temperature, seed, maxTokensPerTurn: plan.maxTokensPerTurn })
}

/**
 * Plays held-out tasks greedily. `name` keys the record, not the outcome. Empties the cache first, as each step of RL does: a
 * resumed process starts with an empty cache, and cached rows can differ in the last bit.
 *
 * @param from tasks of the split that are passed over. Where too few are left after them, none is. Default: 0.
 */
export async function evaluate<T extends Task>(
  job: Job<T>,
  name: string,
  split: Task['split'],
  count: number,
  from = 0,
): Promise<{ episodes: Episode[]; summary: EpisodeSummary; seconds: number }> {
  const { options, emit, signal } = job
  const started = performance.now()
  const others = from === 0 ? [] : heldOutTasks(options.tasks, split, from + count).slice(from)
  const wanted = others.length === count ? others : heldOutTasks(options.tasks, split, count)
  const tasks = wanted.filter((task) => !isDropped(job.state, task))
  if (tasks.length === 0 && count > 0 && split !== 'unseen-paraphrase')
    throw nothingHeldOut(options.environment.name, split)
  job.backend.clearCache?.()
  const abort = signal === undefined ? {} : { signal }
  const onWave = (done: readonly Episode[]): void => {
    const { success } = summariseEpisodes(done)
    emit({ type: 'evaluation', stage: name, split, done: done.length, total: tasks.length, success })
  }
  const { environment, plan, program } = options
  const episodes = await journaled(job, name, () =>
    program === undefined
      ? evaluatePolicy({
          name,
          tasks,
          actor: actorOf(job, 0),
          environment,
          limits: plan.limits,
          ...abort,
          onWave,
        })
      : evaluateProgram(program, { backend: job.backend, name, tasks, ...abort, onWave }),
  )
  if (episodes.length > 0 && !episodes.some(isJudged)) throw environmentBroken(episodes)
  charge(job, episodes)
  return { episodes, summary: summariseEpisodes(episodes), seconds: (performance.now() - started) / 1000 }
}

/** Programs wait for each other's answers, so few of them run at the same time. */
const programWave = 32

async function evaluateProgram<T extends Task>(
  program: ProgramRollout<T>,
  {
    name,
    tasks,
    onWave,
    ...rest
  }: {
    backend: TrainableBackend
    name: string
    tasks: readonly T[]
    signal?: AbortSignal
    onWave: (done: readonly Episode[]) => void
  },
): Promise<Episode[]> {
  const episodes: Episode[] = []
  for (let start = 0; start < tasks.length; start += programWave) {
    const wave = { name: `${name}/${start}`, tasks: tasks.slice(start, start + programWave) }
    episodes.push(...(await program.play({ ...rest, ...wave, groupSize: 1, temperature: 0 })).flat())
    onWave(episodes)
  }
  return episodes
}

const journal = 'journal'

/**
 * Plays episodes, or reads those that an earlier process played at this point. If tools may answer differently the next time, an
 * exact resumption needs the recorded answers. The journal reaches back to the last checkpoint; a deterministic environment
 * needs none.
 */
export async function journaled<T extends Task>(
  job: Job<T>,
  name: string,
  play: () => Promise<Episode[]>,
): Promise<Episode[]> {
  const { phase, step } = job.state
  return keptIf(job, `${journal}/${phase}-${step}-${name}.jsonl`, mayDiffer(job), play)
}

/** Whether the same calls may get other answers the next time. */
function mayDiffer<T extends Task>({ options, state }: Job<T>): boolean {
  return options.environment.deterministic === false || Object.keys(state.unstableTools ?? {}).length > 0
}

/** Plays episodes. If `keep` is set, stores them in a file and reads them from there the next time. */
export async function keptIf<T extends Task>(
  { folder }: Job<T>,
  file: string,
  keep: boolean,
  play: () => Promise<Episode[]>,
): Promise<Episode[]> {
  if (keep && hasChecked(folder, file))
    return checkedLines(folder, file).map((line, at) => decodeEpisode(line, `${folder.file(file)}:${at + 1}`))
  const episodes = await play()
  if (keep) writeChecked(folder, file, episodes.map((episode) => `${encodeEpisode(episode)}\n`).join(''))
  return episodes
}

/** Adds episodes to the cost of the job. */
export function charge<T extends Task>({ state }: Job<T>, episodes: readonly Episode[]): void {
  for (const episode of episodes) {
    state.cost.episodes++
    state.cost.calls += episode.usage.calls
    state.cost.sampledTokens += episode.usage.sampledTokens
    if (episode.status === 'masked') state.cost.masked++
  }
  countTokens(state, playedTokens(episodes))
  state.maskedReasons = addReasons(state.maskedReasons ?? {}, summariseEpisodes(episodes).maskedReasons)
}

function nothingHeldOut(environment: string, split: Task['split']): AgogeError {
  return new AgogeError(`There is no ${split} task of ${environment} to measure the model on`, {
    code: 'no-tasks',
    given: `a source of tasks without any of the split "${split}"`,
    expected: 'at least one task that is not trained on',
    hint: 'Give the source more tasks, or set the number of such tasks to 0 in the plan',
  })
}

/** The error if no episode of a batch could be judged. Continuing would hide it. */
export function environmentBroken(episodes: readonly Episode[]): AgogeError {
  return new AgogeError(
    `All of ${episodes.length} episodes were masked: the environment or the model does not work`,
    {
      code: 'environment-broken',
      given: reasonsText(summariseEpisodes(episodes).maskedReasons),
      expected: 'at least one episode that could be played and judged',
      hint: 'Repair what the message names, then use --resume: all finished steps are kept',
    },
  )
}
