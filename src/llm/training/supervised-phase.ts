import type { Task } from '../agent/types.ts'
import { supervised, trainedTokens } from '../algorithm/supervised.ts'
import type { Episode } from '../episode/types.ts'
import { createRandom, hash32 } from '../../engine/random/index.ts'
import { isDemonstration, playDemonstrations } from '../rollout/demonstrate.ts'
import { applyUpdate } from './apply-update.ts'
import { recordFailures, tooFewDemonstrations } from './dropped-tasks.ts'
import { evaluate, keptIf, record } from './job.ts'
import type { Job } from './job.ts'
import { optimStepAt } from './learning-rate.ts'
import { faultLines } from './report/faults.ts'
import { restateStages } from './stage.ts'
import { saveWeights } from './state.ts'
import type { LoopState } from './state.ts'
import type { SupervisedSettings } from './types.ts'

/**
 * Lets the planner play the training tasks of the plan in the environment; the same demonstrations for the same seed. Where the environment proves its
 * tasks, one that its plan does not solve any more is dropped, and `state` says which, why, and which tools fail.
 *
 * @throws AgogeError where fewer than a tenth are left, and as `demonstrate` does.
 */
export async function collectDemonstrations<T extends Task>(job: Job<T>): Promise<Episode[]> {
  const { options, state, emit, signal } = job
  const counts = Object.entries(options.plan.demonstrations)
  const tasks = counts.flatMap(([kind, count]) =>
    Array.from({ length: count }, (_, at) =>
      options.tasks.task({
        split: 'train',
        kind,
        seed: hash32(options.seed, 'demonstration', kind, at) >>> 1,
      }),
    ),
  )
  emit({ type: 'phase', name: 'demonstrations', total: tasks.length })
  const { deterministic, provesTasks = false } = options.environment
  const played = await keptIf(job, 'demonstrations.jsonl', deterministic === false || provesTasks, () =>
    playDemonstrations({
      tasks,
      environment: options.environment,
      tokenizer: options.tokenizer,
      ...(options.chat === undefined ? {} : { format: options.chat.format }),
      limits: options.plan.limits,
      ...(signal === undefined ? {} : { signal }),
    }),
  )
  const demonstrations = played.filter(isDemonstration)
  const countOf = (kind: string): number => demonstrations.filter((episode) => episode.kind === kind).length
  state.demonstrations = Object.fromEntries(counts.map(([kind]) => [kind, countOf(kind)]))
  recordFailures(state, played)
  const { unstableTools, dropped } = state
  for (const text of faultLines({ unstableTools, dropped })) emit({ type: 'note', text })
  if (demonstrations.length < tasks.length / 10)
    throw tooFewDemonstrations(demonstrations.length, tasks.length, state)
  restateStages(job)
  return demonstrations
}

/** When a supervised phase ends: after `steps`, or when `seconds` of wall-clock are used. */
export type SupervisedBudget = { steps: number } | { seconds: number }

/**
 * Cross-entropy on demonstrations, in seeded order, validated by success on validation tasks every so many steps.
 * Ends with the budget or when the score has not risen for a while, with the best validated weights loaded.
 *
 * @returns the name of the checkpoint with those weights.
 */
export async function runSupervised<T extends Task>(
  job: Job<T>,
  name: 'warm-start' | 'supervised',
  demonstrations: readonly Episode[],
  settings: Omit<SupervisedSettings, 'epochs'>,
  budget: SupervisedBudget,
): Promise<string> {
  const { state, backend, emit, options, folder } = job
  const total = 'steps' in budget ? budget.steps : null
  const progress = (): number =>
    'steps' in budget ? state.step / budget.steps : Math.min(1, job.phaseSeconds() / budget.seconds)
  const batches = Math.max(1, Math.ceil(demonstrations.length / settings.batch))
  emit({ type: 'phase', name, total })
  for (;;) {
    const over = demonstrations.length === 0 || progress() >= 1
    const due = over || state.step % settings.validateEvery === 0
    // The warm start begins from a model that can do nothing; the other arm's beginning is a candidate itself.
    if (due && state.validated !== state.step && (state.step > 0 || over || name === 'supervised'))
      await validate(job, name)
    if (over || isSettled(state.best, settings.patience)) break

    const started = performance.now()
    const epoch = Math.floor(state.step / batches)
    const order = createRandom(options.seed, name, 'epoch', epoch).shuffle(demonstrations)
    const at = (state.step % batches) * settings.batch
    const batch = order.slice(at, at + settings.batch)
    const update = supervised(batch)
    const step = optimStepAt(settings, state.step, progress())
    const { loss, gradientNorm } = await applyUpdate(job, update, step, () => batch.map(({ id }) => id))
    state.step++
    job.settled = true
    const seconds = (performance.now() - started) / 1000
    const tokens = batch.reduce((sum, episode) => sum + trainedTokens(episode), 0)
    record(job, name, seconds, total, {
      loss,
      ...(gradientNorm === undefined ? {} : { gradientNorm }),
      learningRate: step.learningRate,
      epoch,
      tokens,
      tokensPerSecond: update.sequences.reduce((sum, row) => sum + row.tokens.length, 0) / seconds,
    })
    if (state.step % options.plan.checkpointEvery === 0) await job.checkpoint()
  }
  const best = state.best?.checkpoint ?? `${name}-best-${state.step}`
  if (state.best === null) await saveWeights(folder, backend, best)
  else await backend.load(folder.file('checkpoints', best))
  return best
}

/** Nothing is to be hoped for: the score did not rise for a while, or cannot rise. */
function isSettled(best: LoopState['best'], patience: number): boolean {
  return best !== null && (best.without >= patience || best.score === 1)
}

async function validate<T extends Task>(job: Job<T>, name: string): Promise<void> {
  const { state, backend, folder, options } = job
  const { summary } = await evaluate(job, `${name}-validation`, 'validation', options.plan.tasks.validation)
  const score = summary.success.mean
  if (state.best === null || score > state.best.score) {
    const checkpoint = `${name}-best-${state.step}`
    await saveWeights(folder, backend, checkpoint)
    state.best = { score, step: state.step, checkpoint, without: 0 }
    state.prior = summary.kinds
  } else state.best = { ...state.best, without: state.best.without + 1 }
  state.validated = state.step
  record(job, `${name}-validation`, 0, null, {
    success: score,
    best: state.best.score,
    masked: summary.masked,
  })
}
