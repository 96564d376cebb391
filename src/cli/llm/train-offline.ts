import { createHash } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { AgogeError } from '../../error.ts'
import { loadModel } from '../../llm/backend/base-model.ts'
import type { LoadedModel } from '../../llm/backend/base-model.ts'
import { createScalarModel } from '../../llm/backend/scalar-model.ts'
import { toolEnvironments } from '../../llm/environment/catalogue.ts'
import { readEpisodes } from '../../llm/episode/codec.ts'
import type { Episode } from '../../llm/episode/types.ts'
import { utteranceRows } from '../../llm/episode/training-sequences.ts'
import { isJudged } from '../../llm/evaluation/episode-statistics.ts'
import { recordedScore } from '../../llm/reward/reward.ts'
import { evaluateModels } from '../../llm/training/evaluate-models.ts'
import type {
  LabelledAnswer,
  PreferenceMethod,
  PreferencePair,
} from '../../llm/training/preference/answers.ts'
import { dpo, ipo, kto, orpo, simpo } from '../../llm/training/preference/methods.ts'
import { episodeAnswer, episodePairs } from '../../llm/training/preference/online.ts'
import { trainProcessReward, trainRewardModel } from '../../llm/training/preference/reward-model.ts'
import type { LabelledSteps } from '../../llm/training/preference/reward-model.ts'
import { trainPreferences } from '../../llm/training/preference/train-preferences.ts'
import type { PreferenceSchedule, Schedule } from '../../llm/training/preference/train-preferences.ts'
import { checkNewRun } from '../../runs/run-folder.ts'
import type { Console } from '../shared/console.ts'
import { createProgress } from '../shared/progress.ts'
import { listRuns, trainedEnvironment } from '../shared/runs.ts'
import { table } from '../shared/console.ts'
import { evalText } from './eval.ts'
import { findModel, openModel } from './model-option.ts'
import type { OfflineMethod } from '../shared/options.ts'
import { openEnvironment } from './open-environment.ts'

export interface TrainOfflineCommand {
  /** A run folder or a file of episodes. Default: the last run. */
  episodes?: string
  method: OfflineMethod
  model?: string
  steps: number
  batch: number
  learningRate: number
  /** Number of held-out tasks of the run's environment, played before and after. */
  tasks: number
  seed: number
  out: string
  resume?: boolean
  /** As typed, for the record. */
  commandLine: string
}

/** `agoge train-offline`: trains on recorded episodes, and reports the improvement on held-out ones. */
export async function runTrainOffline(command: TrainOfflineCommand, terminal: Console): Promise<void> {
  if (command.resume !== true) checkNewRun(command.out, 'the same command and --resume (without a folder)')
  const { file, run } = episodesFile(command.episodes)
  const data = dividedEpisodes(readEpisodes(file))
  const start = findModel(command.model ?? (isRun(run) ? run : undefined)).folder
  const loaded = await loadModel(start)
  const progress = createProgress(terminal.progress)
  const out = resolve(command.out)
  let began = false
  const schedule: PreferenceSchedule = {
    steps: command.steps,
    batch: command.batch,
    learningRate: command.learningRate,
    clip: 1,
    warmup: 3,
    validateEvery: 10,
    seed: command.seed,
    out,
    resume: command.resume === true,
    command: command.commandLine,
    onEvent(event) {
      began = true
      progress.event(event)
    },
    signal: terminal.signal,
  }
  try {
    terminal.err(`run folder: ${out}`)
    const learnt = await learn(command.method, data, loaded, schedule)
    progress.close()
    terminal.out(scheduleText(learnt))
    await loaded.backend.dispose()
    if (!isRewardModel(command.method)) await compare(command, { run, start, out }, terminal)
    terminal.out(`\nmodel: ${join(out, 'checkpoints', 'final')}\nreport: ${join(out, 'report.html')}`)
  } catch (error) {
    progress.close()
    if (began) terminal.err('to continue, repeat the command with --resume')
    throw error
  }
}

const isRewardModel = (method: OfflineMethod): boolean => method.endsWith('reward-model')

interface Learnt {
  /** The training data and the held-out data. */
  unit: string
  trained: number
  heldOut: number
  schedule: Schedule
}

const methods: Record<'dpo' | 'ipo' | 'orpo' | 'simpo', () => PreferenceMethod<PreferencePair>> = {
  dpo,
  ipo,
  orpo,
  simpo,
}

async function learn(
  method: OfflineMethod,
  { train, heldOut }: Divided,
  { backend }: LoadedModel,
  schedule: PreferenceSchedule,
): Promise<Learnt> {
  if (method === 'process-reward-model') {
    const [examples, validation] = [train.flatMap(labelledSteps), heldOut.flatMap(labelledSteps)]
    requireExamples(examples, validation, 'an episode that was judged')
    const model = createScalarModel({ config: backend.config, parameters: backend.parameters })
    return {
      unit: 'episodes, their steps',
      trained: examples.length,
      heldOut: validation.length,
      schedule: await trainProcessReward({ ...schedule, model, examples, validation }),
    }
  }
  const validation = pairsOf(heldOut)
  const examples = pairsOf(train)
  requireExamples(examples, validation, 'two episodes of one group with different rewards')
  const counts = { unit: 'pairs', trained: examples.length, heldOut: validation.length }
  if (method === 'reward-model') {
    const model = createScalarModel({ config: backend.config, parameters: backend.parameters })
    return { ...counts, schedule: await trainRewardModel({ ...schedule, model, examples, validation }) }
  }
  if (method === 'kto') {
    const labelled = train.flatMap(labelledAnswer)
    return {
      ...counts,
      unit: 'answers and pairs',
      trained: labelled.length,
      schedule: await trainPreferences({
        ...schedule,
        backend,
        method: kto(),
        examples: labelled,
        validation,
      }),
    }
  }
  const chosen = methods[method]()
  return {
    ...counts,
    schedule: await trainPreferences({ ...schedule, backend, method: chosen, examples, validation }),
  }
}

/** The result before and after, and which weights were kept. */
function scheduleText({ unit, trained, heldOut, schedule: { validations, best } }: Learnt): string {
  const [before] = validations
  const percent = (share: number): string => `${(100 * share).toFixed(0)}%`
  return table(
    [`${heldOut} held-out ${unit} (${trained} learnt from)`, 'before', `after ${best.step} steps, the best`],
    [
      ['in the right order', percent(before.accuracy), percent(best.accuracy)],
      ['margin', before.margin.toFixed(3), best.margin.toFixed(3)],
    ],
  )
}

/** Success before and after on held-out tasks of the environment that the episodes come from. */
async function compare(
  { tasks, seed }: TrainOfflineCommand,
  { run, start, out }: { run: string; start: string; out: string },
  terminal: Console,
): Promise<void> {
  const environment = isRun(run) ? trainedEnvironment(run) : undefined
  if (tasks === 0 || environment === undefined || !Object.hasOwn(toolEnvironments, environment)) return
  const opened = await openEnvironment({ environment }, { seed }, terminal)
  const { maxTokensPerTurn, limits } = opened.plan
  const options = { seed: 0, temperature: 0, maxTokensPerTurn, onNotice: terminal.err }
  const models = [
    { ...(await openModel(start, options, terminal)), name: 'before' },
    { ...(await openModel(out, options, terminal)), name: 'after' },
  ]
  const progress = createProgress(terminal.progress)
  try {
    const { report } = await evaluateModels({
      models,
      environment: opened.environment,
      tasks: opened.heldOut('test', tasks),
      limits,
      signal: terminal.signal,
      onProgress: ({ model, done, total }) =>
        progress.event({ type: 'evaluation', stage: model, split: 'test', done, total }),
    })
    progress.close()
    terminal.out(`\n${evalText(report)}`)
  } finally {
    progress.close()
    for (const model of models) await model.dispose()
    await opened.environment.close()
  }
}

interface Divided {
  train: Episode[]
  heldOut: Episode[]
}

/** One task in five is held out, with all its episodes. The hash of its name decides. */
function dividedEpisodes(episodes: readonly Episode[]): Divided {
  const judged = episodes.filter(isJudged)
  const isHeldOut = ({ task }: Episode): boolean => createHash('sha256').update(task).digest()[0] % 5 === 0
  return {
    train: judged.filter((episode) => !isHeldOut(episode)),
    heldOut: judged.filter(isHeldOut),
  }
}

const rewardOf = (episode: Episode): number | null => {
  const score = recordedScore(episode)
  return score === undefined ? Number(episode.success) : score.value
}

/** Every pair of episodes in a group with different rewards. */
function pairsOf(episodes: readonly Episode[]): PreferencePair[] {
  const groups = new Map<string, Episode[]>()
  for (const episode of episodes) groups.set(episode.group, [...(groups.get(episode.group) ?? []), episode])
  return [...groups.values()].flatMap((group) => episodePairs(group, group.map(rewardOf), { pairing: 'all' }))
}

function labelledAnswer(episode: Episode): LabelledAnswer[] {
  const answer = episodeAnswer(episode)
  return answer === null ? [] : [{ ...answer, desirable: episode.success === true }]
}

/**
 * Each output of the policy is a step, labelled with the outcome of its episode. Over many episodes the labels of a
 * step average to a soft label.
 */
function labelledSteps(episode: Episode): LabelledSteps[] {
  const answer = episodeAnswer(episode)
  if (answer === null) return []
  const ends = utteranceRows(episode).flatMap(({ utterances }) =>
    utterances.map(({ last }) => last - answer.prompt.length),
  )
  return [{ ...answer, ends, labels: ends.map(() => Number(episode.success)) }]
}

function requireExamples(examples: readonly unknown[], validation: readonly unknown[], what: string): void {
  if (examples.length > 0 && validation.length > 0) return
  throw new AgogeError('There are too few episodes to learn from and to hold out', {
    code: 'no-rows',
    given: `${examples.length} to learn from, ${validation.length} held out (one task in five)`,
    expected: `${what}, on either side`,
    hint: 'Take the episodes of a longer run',
  })
}

const isRun = (path: string): boolean => existsSync(join(path, 'config.json'))

function episodesFile(given: string | undefined): { file: string; run: string } {
  const from = given ?? listRuns()[0]
  if (from !== undefined && existsSync(from)) {
    if (statSync(from).isFile()) return { file: from, run: resolve(from, '..') }
    const file = join(from, 'episodes.jsonl')
    if (existsSync(file)) return { file, run: from }
  }
  throw new AgogeError('There are no episodes to learn from.', {
    code: 'no-run',
    given: from ?? '.agoge/runs',
    expected: 'a run folder of agoge train with an episodes.jsonl, or such a file',
    hint: 'agoge train --quick --out RUN makes some',
  })
}
