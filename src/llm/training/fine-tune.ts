import { defined } from '../../defined.ts'
import { createRandom, hash32 } from '../../engine/random/index.ts'
import { AgogeError } from '../../error.ts'
import type { Task } from '../agent/types.ts'
import { supervised, trainedTokens } from '../algorithm/losses/imitation.ts'
import type { Episode } from '../episode/types.ts'
import type { ModelBackend } from '../model-backend.ts'
import { isDemonstration, playDemonstrations } from '../rollout/collect.ts'
import { faultLines, recordFailures, tooFewDemonstrations } from './dropped-tasks.ts'
import { evaluate, keptIf } from './job.ts'
import type { Job } from './job.ts'
import { byKind, freshSource, inOrder } from './demonstration-source.ts'
import type { DemonstrationBatch, DemonstrationSource } from './demonstration-source.ts'
import { fallenKinds } from './falling-kinds.ts'
import type { OptimiserSettings, TrainingPart, Validation } from './kernel.ts'
import { runPart } from './kernel.ts'
import { hashOf, runTraining, settingsOf, validationOf } from './run.ts'
import type { RunOptions, ValidationOptions } from './run.ts'
import { restateStages } from './summary.ts'
import { budgetedValidation, usedShare } from './token-budget.ts'
import type { SupervisedSettings, TrainJobOptions } from './types.ts'

interface FineTuneOptions extends OptimiserSettings, RunOptions, ValidationOptions {
  backend: ModelBackend & { resetOptimizer?: () => void }
  /** Failed and masked episodes are left out. */
  demonstrations: readonly Episode[]
  epochs: number
  /** Demonstrations per step. */
  batch: number
  seed: number
}

/**
 * Supervised fine-tuning: cross-entropy on demonstrations (`demonstrateAgent`), in seeded order.
 *
 * @returns the loss of each step, in nats per token.
 * @throws AgogeError `unsolvable-task` if no demonstration succeeded, and as `runTraining` does.
 * @example
 * const losses = await fineTune({ backend, demonstrations, epochs: 4, batch: 16, learningRate: 1e-3, seed: 0, out: 'runs/sft' })
 */
export async function fineTune(options: FineTuneOptions): Promise<number[]> {
  const { backend, demonstrations, epochs, batch, seed } = options
  const good = demonstrations.filter(({ success }) => success === true)
  if (good.length === 0) {
    throw new AgogeError('There is nothing to train on: no demonstration succeeded.', {
      code: 'unsolvable-task',
      given:
        demonstrations.find(({ error }) => error !== undefined)?.error ??
        `${demonstrations.length} that failed`,
      expected: 'a teacher whose episodes the judge accepts',
    })
  }
  const part = supervisedPart({
    name: 'fine-tune',
    backend,
    steps: epochs * Math.ceil(good.length / batch),
    source: inOrder(good, batch, (epoch) => createRandom(seed, 'imitate', epoch)),
    settings: options,
  })
  const { records } = await runTraining(
    { ...part, validation: validationOf(options) },
    {
      ...options,
      models: { model: backend },
      settings: { ...settingsOf(options), demonstrations: hashOf(good.map(({ id, nodes }) => [id, nodes])) },
    },
  )
  // The optimiser's moments do not fit the next objective.
  backend.resetOptimizer?.()
  return records.flatMap(({ phase, metrics }) => (phase === part.name ? [metrics['loss']] : []))
}

/** Cross-entropy on the episodes of a source. */
function supervisedPart({
  name,
  backend,
  steps,
  progress,
  source,
  settings,
}: {
  name: string
  backend: ModelBackend
  steps: number | null
  progress?: () => number
  source: DemonstrationSource
  settings: OptimiserSettings
}): TrainingPart<DemonstrationBatch> {
  return {
    name,
    steps,
    ...(source.isEmpty ? { progress: () => 1 } : progress === undefined ? {} : { progress }),
    collect: (step) => source.batch(step),
    async update({ epoch, episodes }, tools) {
      const started = performance.now()
      const update = supervised(episodes)
      const step = tools.schedule(settings)
      const { loss, gradientNorm } = await tools.apply(backend, update, step, () =>
        episodes.map(({ id }) => id),
      )
      const seconds = (performance.now() - started) / 1000
      return {
        loss,
        gradientNorm,
        learningRate: step.learningRate,
        epoch,
        tokens: episodes.reduce((sum, episode) => sum + trainedTokens(episode), 0),
        tokensPerSecond: update.sequences.reduce((sum, row) => sum + row.tokens.length, 0) / seconds,
      }
    },
  }
}

/** The training tasks that a plan demonstrates: different ones as far as a kind has them, then some again. */
export function demonstrationTasks<T extends Task>({
  plan,
  seed,
  tasks,
}: Pick<TrainJobOptions<T>, 'plan' | 'seed' | 'tasks'>): T[] {
  return Object.entries(plan.demonstrations).flatMap(([kind, count]) => {
    const draw = (at: number): T =>
      tasks.task({ split: 'train', kind, seed: hash32(seed, 'demonstration', kind, at) >>> 1 })
    const chosen = new Map<string, T>()
    for (let at = 0; at < mostDraws * count && chosen.size < count; at++) {
      const task = draw(at)
      if (!chosen.has(task.id)) chosen.set(task.id, task)
    }
    const again = Array.from({ length: count - chosen.size }, (_, at) => draw(at))
    return [...chosen.values(), ...again]
  })
}

/** Draws for each demonstration until a kind counts as having no other tasks. */
const mostDraws = 6

/**
 * Lets the expert play the plan's training tasks in the environment. The same seed gives the same demonstrations. If the
 * environment verifies its tasks, a task that its plan no longer solves is dropped; `state` records which, why, and which tools
 * fail.
 *
 * @throws AgogeError if fewer than a tenth are left, and as `demonstrate` does.
 */
export async function collectDemonstrations<T extends Task>(job: Job<T>): Promise<Episode[]> {
  const { options, state, emit, signal } = job
  const counts = Object.entries(options.plan.demonstrations)
  const tasks = demonstrationTasks(options)
  emit({ type: 'phase', name: 'demonstrations', total: tasks.length })
  const { deterministic, provesTasks = false } = options.environment
  const played = await keptIf(job, 'demonstrations.jsonl', deterministic === false || provesTasks, () =>
    playDemonstrations({
      tasks,
      environment: options.environment,
      tokenizer: options.tokenizer,
      ...(options.chat === undefined ? {} : { format: options.chat.format }),
      limits: options.plan.limits,
      ...defined({ signal }),
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

/** What a supervised phase may use: steps, or seconds of wall-clock. The `budget` of its settings comes first. */
type SupervisedExtent = { steps: number } | { seconds: number }

/**
 * Cross-entropy on demonstrations in seeded order, with regular validations by success on validation tasks. Ends with the budget
 * or when the score stops rising. Loads the weights of the best validation.
 *
 * @returns the name of the checkpoint with those weights.
 */
export async function runSupervised<T extends Task>(
  job: Job<T>,
  name: 'warm-start' | 'supervised',
  demonstrations: readonly Episode[],
  settings: Omit<SupervisedSettings, 'epochs'>,
  extent: SupervisedExtent,
): Promise<string> {
  const { state, options } = job
  const { validateEvery, patience, budget, fresh = false, kindWeights, batch } = settings
  const orderOf = (...key: (string | number)[]) => createRandom(options.seed, name, ...key)
  const part = supervisedPart({
    name,
    backend: job.backend,
    steps: 'steps' in extent && budget === undefined ? extent.steps : null,
    ...(budget !== undefined
      ? { progress: () => usedShare(state, budget) }
      : 'steps' in extent
        ? {}
        : { progress: () => Math.min(1, job.phaseSeconds() / extent.seconds) }),
    source: fresh
      ? freshSource(job, settings)
      : kindWeights === undefined
        ? inOrder(demonstrations, batch, (epoch) => orderOf('epoch', epoch))
        : byKind(demonstrations, { batch, kindWeights, orderOf }),
    settings,
  })
  let kinds: Record<string, number> = {}
  const validation: Validation = {
    measure: 'success',
    // The warm start begins with an untrained policy. The initial weights of the control arm are a candidate for the best.
    isDue: (step, over) => over || (step % validateEvery === 0 && (step > 0 || name === 'supervised')),
    async score() {
      const count = options.plan.tasks.validation
      const { summary } = await evaluate(job, `${name}-validation`, 'validation', count)
      kinds = summary.kinds
      for (const text of fallenKinds(state, summary.kindEstimates)) job.emit({ type: 'note', text })
      return { score: summary.success.mean, metrics: { masked: summary.masked } }
    },
    keep: 'best',
    onBest: () => (state.prior = kinds),
    // Stop if the score has not risen for a while or cannot rise further.
    isSettled: (best) => best.without >= patience || best.score === 1,
  }
  await runPart(
    {
      ...part,
      async update(batch, tools) {
        const metrics = await part.update(batch, tools)
        if (fresh) countDemonstrations(state.demonstrations, batch.episodes)
        return metrics
      },
      validation: budget === undefined ? validation : budgetedValidation(state, budget, validation),
    },
    job,
  )
  const best = state.best?.checkpoint ?? `${name}-best-${state.step}`
  if (state.best === null) await job.saveWeights(best)
  return best
}

function countDemonstrations(counts: Record<string, number>, episodes: readonly Episode[]): void {
  for (const { kind } of episodes) counts[kind] = (counts[kind] ?? 0) + 1
}
