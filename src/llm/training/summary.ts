import { defined } from '../../defined.ts'
import { checkedLines, hasChecked, writeChecked } from '../../runs/checksums.ts'
import { percent } from '../../runs/report/format.ts'
import { machine, type RunFolder } from '../../runs/run-folder.ts'
import type { Task } from '../agent/types.ts'
import { decodeEpisode, encodeEpisode } from '../episode/codec.ts'
import type { Episode } from '../episode/types.ts'
import type { Estimate } from '../../statistics/statistics.ts'
import { compareSuccess, reasonsText, summariseEpisodes } from '../evaluation/episode-statistics.ts'
import { smallModelPlan } from './defaults.ts'
import { hasFallen } from './falling-kinds.ts'
import { evaluate, type Job } from './job.ts'
import { isDropped } from './dropped-tasks.ts'
import type { SampleEpisode, SampleMessage, StageName, TrainingSummary } from './types.ts'

const evaluationFile = (stage: string): string => `evaluations/${stage}.jsonl`

/** Evaluates the policy on the test tasks, stores every episode, and adds the stage to the summary. */
export async function runStage<T extends Task>(
  job: Job<T>,
  name: StageName,
  trainingSeconds: number,
): Promise<void> {
  const { state, options, folder, emit } = job
  if (options.program !== undefined && options.plan.tasks.test === 0) return
  emit({ type: 'phase', name: `test ${name}`, total: options.plan.tasks.test })
  const { episodes, summary, seconds } = await evaluate(job, name, 'test', options.plan.tasks.test)
  writeEpisodes(folder, name, episodes)
  state.stages.push({
    name,
    ...summary,
    seconds: trainingSeconds,
    evaluationSeconds: seconds,
  })
  if (summary.masked > 0)
    emit({
      type: 'note',
      text: `${summary.masked} of ${episodes.length} episodes were masked and count nowhere: ${reasonsText(summary.maskedReasons)}`,
    })
}

/** Removes dropped kinds of task from earlier stages, so that all stages have the same tasks. */
export function restateStages<T extends Task>({ state, folder }: Job<T>): void {
  if (state.dropped === undefined || state.dropped.kinds.length === 0) return
  for (const stage of state.stages) {
    const left = stageEpisodes(folder, stage.name).filter(
      ({ task, kind }) => !isDropped(state, { id: task, kind }),
    )
    Object.assign(stage, summariseEpisodes(left))
  }
}

/** Evaluates the policy on requests worded as no request of training. Reported only; no check depends on it. */
export async function runUnseenParaphrases<T extends Task>(job: Job<T>): Promise<void> {
  const { state, options, folder, emit } = job
  const count = options.plan.tasks.unseenParaphrases
  if (count === 0) return
  emit({ type: 'phase', name: 'unseen paraphrases', total: count })
  const { episodes, summary } = await evaluate(job, 'unseen-paraphrase', 'unseen-paraphrase', count)
  if (episodes.length === 0) return
  writeEpisodes(folder, 'unseen-paraphrase', episodes)
  const names = new Set(
    episodes.map(({ context }) => context['unseen']).filter((name) => typeof name === 'string'),
  )
  const groups = [...names].sort().map((name) => {
    const own = episodes.filter(({ context }) => context['unseen'] === name)
    return [name, summariseEpisodes(own).success] as const
  })
  state.unseenParaphrases = {
    success: summary.success,
    kinds: summary.kinds,
    ...(groups.length > 1 && { groups: Object.fromEntries(groups) }),
  }
}

function writeEpisodes(folder: RunFolder, stage: string, episodes: readonly Episode[]): void {
  writeChecked(
    folder,
    evaluationFile(stage),
    episodes.map((episode) => `${encodeEpisode(episode)}\n`).join(''),
  )
}

/** The test episodes of a finished stage, in the order of the tasks. */
function stageEpisodes(folder: RunFolder, stage: StageName): Episode[] {
  const file = evaluationFile(stage)
  if (!hasChecked(folder, file)) return []
  return checkedLines(folder, file).map((line, at) => decodeEpisode(line, `${folder.file(file)}:${at + 1}`))
}

/**
 * Held-out tasks that failed before training and succeed after it, from as many kinds as possible, largest gains first. Of
 * several tasks of a kind, the one with the most calls is taken, since it shows most.
 */
export function wrongToRight(
  before: readonly Episode[],
  after: readonly Episode[],
  count: number,
): SampleEpisode[] {
  const earlier = new Map(before.map((episode) => [episode.task, episode]))
  const kinds = new Map<string, { before: Episode; after: Episode }[]>()
  for (const episode of after) {
    const old = earlier.get(episode.task)
    if (old === undefined || old.status === 'masked' || old.success !== false || episode.success !== true)
      continue
    kinds.set(episode.kind, [...(kinds.get(episode.kind) ?? []), { before: old, after: episode }])
  }
  const ranked = [...kinds.values()]
    .map((pairs) => pairs.toSorted((a, b) => b.after.usage.calls - a.after.usage.calls))
    .sort((a, b) => b.length - a.length)
  const longest = Math.max(0, ...ranked.map((pairs) => pairs.length))
  const chosen = Array.from({ length: longest }, (_, round) =>
    ranked.flatMap((pairs) => pairs.slice(round, round + 1)),
  )
  return chosen
    .flat()
    .slice(0, count)
    .map((pair) => ({
      task: pair.after.task,
      kind: pair.after.kind,
      prompt: pair.after.nodes.find((node) => node.role === 'user')?.text ?? '',
      before: messages(pair.before),
      after: messages(pair.after),
    }))
}

function messages(episode: Episode): SampleMessage[] {
  return episode.nodes.map(({ role, text, calls, isError, invalid }) => ({
    role,
    text,
    ...(calls === undefined
      ? {}
      : { calls: calls.map((call) => ({ name: call.name, arguments: call.arguments })) }),
    ...defined({ isError, invalid }),
  }))
}

/**
 * Runs with fewer demonstrations and steps than this and no clear gain are reported as too short: the small model rarely learns
 * from fewer.
 */
const fewDemonstrations = 60
const fewSteps = 16

/**
 * Warnings about a run that did not go well: success that stays at or falls to 0%, reinforcement learning without reward
 * variance, a kind of task that fell, or too few steps. Each says what happened and what to do. Empty if the run went well.
 */
export function remarksOn({
  stages,
  demonstrations,
  reinforcement,
}: Pick<TrainingSummary, 'stages' | 'demonstrations' | 'reinforcement'>): string[] {
  if (reinforcement === undefined) return []
  const successOf = (name: string) => stages.find((stage) => stage.name === name)?.success
  const [base, warm, rl] = [successOf('base'), successOf('warm-start'), successOf('rl')]
  const kindsOf = (name: string) => stages.find((stage) => stage.name === name)?.kindEstimates
  const [warmKinds, rlKinds] = [kindsOf('warm-start'), kindsOf('rl')]
  const { steps, groups, groupsWithSignal, failed, judged } = reinforcement
  // A user's program has no warm start.
  const warmed = Object.keys(demonstrations).length > 0
  const remarks: string[] = []
  if (rl !== undefined && rl.n > 0 && rl.mean === 0)
    remarks.push(
      warm !== undefined && warm.mean > 0
        ? `Success fell from ${percent(warm.mean)} after the warm start to 0%: reinforcement learning lost what was there. Try another --algorithm or --seed, or in a program a lower learning rate (plan.reinforcement.learningRate).`
        : warmed
          ? 'Success stayed at 0%: the warm start taught too little for reinforcement learning to go on from. Give it more demonstrations (`demonstrations` of train()), or a larger model (--model).'
          : 'Success stayed at 0%: the model could too little for reinforcement learning to go on from. Begin with demonstrations (`demonstrateAgent`, `fineTune`), or with a larger model.',
    )
  if (groups > 0 && groupsWithSignal === 0)
    remarks.push(
      `Reinforcement learning had nothing to learn from: in each of ${groups} groups all episodes got the same reward. ` +
        (failed === judged
          ? `No episode succeeded; the policy must succeed now and then before it can learn, so ${warmed ? 'the warm start needs more demonstrations' : 'begin with demonstrations (`demonstrateAgent`, `fineTune`)'}.`
          : failed === 0
            ? 'Every episode succeeded; the tasks have nothing more to teach.'
            : 'Larger groups (plan.reinforcement.groupSize) or harder tasks would differ.'),
    )
  // Where all is lost, one remark says so.
  for (const [kind, before] of rl?.mean === 0 ? [] : Object.entries(warmKinds ?? {})) {
    const after = rlKinds?.[kind]
    if (after === undefined || !hasFallen(countsOf(before), countsOf(after))) continue
    const text = ({ successes, trials }: Counts): string => `${successes} of ${trials}`
    remarks.push(
      `${kind} fell with reinforcement learning: ${text(countsOf(before))} held-out tasks before, ${text(countsOf(after))} after. Other kinds may have been drawn at its cost: draw it more often (plan.reinforcement.kindWeights of train()), or take a lower learning rate.`,
    )
  }
  const shown = Object.values(demonstrations).reduce((sum, count) => sum + count, 0)
  const short = [
    ...(warmed && shown < fewDemonstrations ? [`${shown} demonstrations`] : []),
    ...(steps < fewSteps ? [`${steps} ${steps === 1 ? 'step' : 'steps'} of reinforcement learning`] : []),
  ]
  const gained = base !== undefined && rl !== undefined && rl.low > base.high
  if (!gained && short.length > 0)
    remarks.push(
      `The run was too short to show a gain: ${short.join(' and ')}. The usual plan has ${warmed ? '240 demonstrations and more, and ' : ''}${smallModelPlan.reinforcement.steps} steps${warmed ? ' (--steps)' : ''}.`,
    )
  return remarks
}

interface Counts {
  successes: number
  trials: number
}

const countsOf = ({ mean, n }: Estimate): Counts => ({ successes: Math.round(mean * n), trials: n })

/** Assembles the summary of the finished job. */
export function summarise<T extends Task>(job: Job<T>): TrainingSummary {
  const { options, state, folder } = job
  const rl = stageEpisodes(folder, 'rl')
  const compared = state.stages.some((stage) => stage.name === 'supervised')
  const { stages, demonstrations, signal } = state
  const steps = state.rlSteps ?? options.plan.reinforcement.steps
  const reinforcement = signal === undefined ? undefined : { steps, ...signal }
  const remarks = remarksOn({ stages, demonstrations, reinforcement })
  return {
    schema: 1,
    command: options.command,
    algorithm: options.algorithmName,
    machine: machine(),
    seconds: state.seconds,
    seed: options.seed,
    stages: state.stages,
    ...(compared ? { gain: compareSuccess(rl, stageEpisodes(folder, 'supervised')) } : {}),
    ...(state.unseenParaphrases === null ? {} : { unseenParaphrases: state.unseenParaphrases }),
    demonstrations: state.demonstrations,
    unstableTools: state.unstableTools,
    dropped: state.dropped,
    maskedReasons: state.maskedReasons,
    reinforcement,
    remarks: remarks.length === 0 ? undefined : remarks,
    cost: { seconds: state.seconds, ...state.cost },
    samples: wrongToRight(
      stageEpisodes(folder, options.program === undefined ? 'warm-start' : 'base'),
      rl,
      3,
    ),
    model: folder.file('checkpoints', 'final'),
  }
}
