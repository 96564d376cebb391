import { parseForeignObject } from '../../untrusted/foreign-json.ts'
import type { Task } from '../agent/types.ts'
import { AgogeError } from '../../error.ts'
import type { Episode } from '../episode/types.ts'
import { damagedFile, readChecked, verifyChecksums, weightsGone, writeChecked } from '../../runs/checksums.ts'
import { readMetrics } from '../../runs/metrics.ts'
import { hasWeights } from '../model/weight-files.ts'
import { type OnTrainingEvent, openRunFolder, type RunFolder } from '../../runs/run-folder.ts'
import { createJob } from './job.ts'
import type { Job } from './job.ts'
import { checkOverlap } from './batches.ts'
import { runReinforcement } from './reinforcement-phase.ts'
import { renderReport } from './report/render-report.ts'
import { claimRun, requireFinal } from '../../runs/run-store.ts'
import { runStage, runUnseenParaphrases, summarise } from './summary.ts'
import { initialState, loadState, phases, saveWeights } from './state.ts'
import type { Phase } from './state.ts'
import { collectDemonstrations, runSupervised } from './fine-tune.ts'
import { checkBudget } from './token-budget.ts'
import type { TrainableBackend, TrainingPlan, TrainJobOptions, TrainingSummary } from './types.ts'

/**
 * Trains a policy and measures the improvement. Evaluates the base model on held-out tasks, warm-starts on demonstrations,
 * trains by RL, and evaluates the result on the same tasks. On request, a control arm continues supervised training for as long
 * as RL took. `options` provide the environment, tasks and algorithm.
 *
 * Budgets are steps, so the same options give bit-identical weights, even if the process was killed and continued with `resume`.
 * Environments whose tools may answer differently the next time are journaled. The exception is the control arm: its budget is
 * time.
 *
 * @param context.signal stops at the next safe moment, saves, and rejects with the signal's reason.
 * @throws AgogeError if the folder cannot be used, or holds a run with other options.
 */
export async function trainJob<T extends Task>(
  options: TrainJobOptions<T>,
  context: { onEvent?: OnTrainingEvent; signal?: AbortSignal } = {},
): Promise<TrainingSummary> {
  context.signal?.throwIfAborted()
  const folder = openRunFolder(options.folder)
  const release = claimRun(folder, configOf(options), { resume: options.resume === true })
  try {
    return await workOn(folder, options, context)
  } finally {
    release()
  }
}

async function workOn<T extends Task>(
  folder: RunFolder,
  options: TrainJobOptions<T>,
  { onEvent = () => {}, signal }: { onEvent?: OnTrainingEvent; signal?: AbortSignal },
): Promise<TrainingSummary> {
  const saved = await loadState(folder)
  if (saved?.state.phase === 'done') {
    await requireWeights(folder)
    return readChecked(folder, 'summary.json', (text) => readSummary(text, folder.file('summary.json')))
  }
  const backend = await options.backend()
  try {
    checkOverlap(options.plan, backend)
    for (const { budget } of [options.plan.warmStart, options.plan.reinforcement]) checkBudget(budget)
    if (saved !== null) await backend.load(folder.file('checkpoints', saved.checkpoint))
    const job = createJob({
      options: { ...options, plan: withinWindow(options.plan, backend) },
      backend,
      folder,
      state: saved?.state ?? initialState(),
      emit: onEvent,
      signal,
    })
    if (saved !== null)
      onEvent({
        type: 'note',
        text: saved.damage ?? `going on with ${folder.path} at ${saved.checkpoint}`,
      })
    else if (options.resume === true)
      onEvent({ type: 'note', text: `${folder.path} has no checkpoint yet: the run begins anew` })
    try {
      await runPhases(job)
    } catch (error) {
      // A checkpoint would remove the journal. Keep it if a file of the run is damaged.
      const damaged = AgogeError.isInstance(error) && error.code === 'bad-run-folder'
      // Save first, but the caller must get the reason for stopping even if saving fails.
      if (job.weightsMatchState && job.state.step > 0 && !damaged) await job.checkpoint().catch(() => {})
      throw signal?.aborted === true ? signal.reason : error
    }
    return await finish(job)
  } finally {
    await backend.dispose?.()
  }
}

/** The plan with episodes that fit into the window of the model. */
function withinWindow(plan: TrainingPlan, { config }: TrainableBackend): TrainingPlan {
  const window = config?.max_position_embeddings ?? Infinity
  const { totalTokens = Infinity } = plan.limits
  return totalTokens <= window ? plan : { ...plan, limits: { ...plan.limits, totalTokens: window } }
}

/** @throws AgogeError if the final weights of a finished run are missing or damaged. */
async function requireWeights(folder: RunFolder): Promise<void> {
  const final = requireFinal(folder)
  await verifyChecksums(final)
  // As in an earlier version: only the description of the language model is left.
  if (folder.has('checkpoints/final/config.json') && !hasWeights(final)) throw weightsGone(folder.path)
}

async function runPhases<T extends Task>(job: Job<T>): Promise<void> {
  const { state, options, signal } = job
  // Collected on first use: a run resumed after the supervised phase never plays them again.
  let demonstrations: Episode[] | undefined
  const collect = async (): Promise<Episode[]> =>
    (demonstrations ??= options.program?.demonstrations.slice() ?? (await collectDemonstrations(job)))
  while (state.phase !== 'done') {
    signal?.throwIfAborted()
    await runPhase(job, collect)
    signal?.throwIfAborted()
    state.phase = phaseAfter(state.phase, options)
    state.step = 0
    state.validated = -1
    state.best = null
    state.phaseSeconds = 0
    delete state.spent
    delete state.kindRecords
    if (state.phase !== 'done') await job.checkpoint()
  }
}

function phaseAfter<T extends Task>(
  phase: Phase,
  { compareSupervised = false, program }: TrainJobOptions<T>,
): Phase {
  const next = phases[phases.indexOf(phase) + 1]
  if (next === 'warm-start' && program !== undefined) return 'rl'
  return next === 'supervised' && !compareSupervised ? 'done' : next
}

async function runPhase<T extends Task>(job: Job<T>, collect: () => Promise<Episode[]>): Promise<void> {
  const { state, backend, options, folder } = job
  const { warmStart, supervised } = options.plan
  switch (state.phase) {
    case 'base':
      return runStage(job, 'base', 0)
    case 'warm-start': {
      // Fresh demonstrations are played as the phase goes on.
      const demonstrations = warmStart.fresh === true ? [] : await collect()
      const planned = Object.values(options.plan.demonstrations).reduce((sum, count) => sum + count, 0)
      const count = warmStart.fresh === true ? planned : demonstrations.length
      const steps = warmStart.epochs * Math.ceil(count / warmStart.batch)
      state.warmStart = await runSupervised(job, 'warm-start', demonstrations, warmStart, { steps })
      state.warmStartSeconds = job.phaseSeconds()
      backend.resetOptimizer?.()
      return
    }
    case 'warm-start-test':
      return runStage(job, 'warm-start', state.warmStartSeconds)
    case 'rl':
      // The reference is opened with the initial weights of RL.
      if (state.warmStart === null) await job.saveWeights((state.warmStart = 'start'))
      await runReinforcement(job, collect)
      state.rl = 'rl-end'
      await saveWeights(folder, backend, state.rl)
      state.rlSeconds = job.phaseSeconds()
      return
    case 'rl-test':
      return runStage(job, 'rl', state.rlSeconds)
    case 'unseen-paraphrase':
      return runUnseenParaphrases(job)
    case 'supervised': {
      const demonstrations = await collect()
      if (state.step === 0) {
        await backend.load(folder.file('checkpoints', state.warmStart ?? ''))
        backend.resetOptimizer?.()
      }
      await runSupervised(job, 'supervised', demonstrations, supervised, { seconds: state.rlSeconds })
      state.supervisedSeconds = job.phaseSeconds()
      return
    }
    case 'supervised-test':
      return runStage(job, 'supervised', state.supervisedSeconds)
    case 'done':
      return
  }
}

/** The order matters: the run counts as done only when all its output exists. */
async function finish<T extends Task>(job: Job<T>): Promise<TrainingSummary> {
  const { state, backend, folder, options } = job
  await backend.load(folder.file('checkpoints', state.rl ?? ''))
  await saveWeights(folder, backend, 'final')
  job.phaseSeconds()
  const summary = summarise(job)
  writeChecked(folder, 'summary.json', `${JSON.stringify(summary, null, 2)}\n`)
  const metrics = readMetrics(folder, job.emit)
  const render = options.report ?? renderReport
  folder.write('report.html', render({ summary, metrics, config: configOf(options) }))
  await job.checkpoint()
  return summary
}

function configOf<T extends Task>(options: TrainJobOptions<T>): Record<string, unknown> {
  const { seed, plan, environment, compareSupervised = false, config = {} } = options
  return { schema: 1, environment: environment.name, seed, compareSupervised, plan, ...config }
}

/** The summary that a finished run stored with a checksum. */
function readSummary(text: string, file: string): TrainingSummary {
  const summary = parseForeignObject(text, file, 'bad-run-folder')
  if (Array.isArray(summary.stages)) return summary as unknown as TrainingSummary
  throw damagedFile(file, { given: Object.keys(summary).join(', '), expected: 'the stages of the training' })
}
