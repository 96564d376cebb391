import { AgogeError } from '../../error.ts'
import type { OnTrainingEvent } from '../../runs/run-folder.ts'
import type { PolicyUpdate } from '../algorithm/types.ts'
import { forwardBackward } from '../backend/custom-loss.ts'
import type { CustomLossReport } from '../backend/custom-loss.ts'
import type { ModelBackend, OptimReport, OptimStep } from '../model-backend.ts'

/** How weights move. The learning rate rises linearly for `warmup` steps, then falls linearly to `final` of its peak. */
export interface OptimiserSettings {
  learningRate: number
  /** Steps. Default 0. */
  warmup?: number
  /** Share of the peak that is left at the end. Default 0. */
  final?: number
  optimizer?: OptimStep['optimizer']
  weightDecay?: number
  beta1?: number
  beta2?: number
  /** Global norm to which the gradient is clipped. Default: not clipped. */
  clip?: number
}

/** What an optimiser can move and a run can keep: a language model (`ModelBackend`) or a `ScalarModel`. */
export interface TrainedModel {
  optimStep(step: OptimStep): Promise<OptimReport>
  save(folder: string): Promise<void>
  load(folder: string): Promise<void>
  /** Forgets cached prompts, so that what is sampled next does not depend on what was sampled before. */
  clearCache?(): void
}

/** One step of training, as `update` sees it. */
export interface StepTools {
  /** From 0. */
  readonly step: number
  /** Share of the training that is done, 0 to 1. */
  readonly progress: number
  readonly signal: AbortSignal | undefined
  /** The optimiser's settings at this step, warm-up and decay included. */
  schedule(settings: OptimiserSettings): OptimStep
  /**
   * Loss, gradient and one optimiser step of a language model.
   *
   * @param names what the batch is made of, for the error where its loss is not finite.
   */
  apply(
    backend: Pick<ModelBackend, 'forward' | 'forwardBackward' | 'optimStep'>,
    update: Pick<PolicyUpdate, 'sequences' | 'loss'>,
    step: OptimStep,
    names?: () => readonly string[],
  ): Promise<CustomLossReport & OptimReport>
  /** Puts a model back to the weights of a folder. */
  restart(model: Pick<TrainedModel, 'load'>, folder: string): Promise<void>
  /** One optimiser step of a model whose gradient is there already. */
  move(
    model: Pick<TrainedModel, 'optimStep'>,
    step: OptimStep,
    names?: () => readonly string[],
  ): Promise<OptimReport>
}

/** Numbers of a step, for the record; those that are undefined are left out. */
export type StepMetrics = Record<string, number | undefined>

export interface Validation {
  /** Whether to validate after this many steps; `over`: training ends here. */
  isDue(step: number, over: boolean): boolean
  /** What is measured, such as `success`; more is better. */
  measure: string
  score(): Promise<{ score: number; metrics?: Record<string, number> }>
  /** Whose weights training ends with: those of the highest score (of equals the earliest, which has moved least), or the last. */
  keep: 'best' | 'last'
  /** Ends training early. */
  isSettled?(best: BestCheckpoint): boolean
  /** Called when the last score was the best so far. */
  onBest?(): void
}

/**
 * What differs from trainer to trainer; everything else is the loop's. All that a step depends on is its number, the weights, the optimiser and
 * what `exportState` gives, so that a run that was killed ends with the same weights as one that was not.
 */
export interface TrainingPart<Batch> {
  /** The phase in metrics and events. */
  name: string
  /** Steps in all; null where something else than steps ends it (`progress`). */
  steps: number | null
  /** Share of the training that is done; it ends at 1. Default: of the steps. */
  progress?(): number
  /** The batch of a step, from 0. Draws random numbers from streams keyed by that number alone. */
  collect(step: number): Promise<Batch> | Batch
  /** Learns from the batch, in one or more optimiser steps, all of them through `tools`. */
  update(batch: Batch, tools: StepTools): Promise<StepMetrics>
  validation?: Validation | undefined
  /** What else the next step depends on: numbers, texts, typed arrays, plain objects, arrays, maps. */
  exportState?(): unknown
  importState?(state: unknown): void
  /** Waits for what must be on the disk before a checkpoint. */
  settle?(): Promise<void>
}

export interface BestCheckpoint {
  score: number
  step: number
  checkpoint: string
  /** Validations since then. */
  without: number
}

/** Where training stands; every checkpoint has it. */
export interface TrainingPosition {
  /** Steps done. */
  step: number
  /** The step that was validated last; -1 = none. */
  validated: number
  best: BestCheckpoint | null
}

/** Where training keeps what it does: a run folder, or memory. See `runTraining`. */
export interface TrainingRun {
  readonly state: TrainingPosition
  readonly checkpointEvery: number
  readonly signal: AbortSignal | undefined
  /** False while the weights are ahead of the state: nothing may be saved then. */
  settled: boolean
  readonly emit: OnTrainingEvent
  /** Writes one line of metrics at the step of now, and reports it. */
  record(phase: string, seconds: number, total: number | null, metrics: Record<string, number>): void
  checkpoint(): Promise<void>
  saveWeights(name: string): Promise<void>
  loadWeights(name: string): Promise<void>
  clearCaches(): void
  /** Path of the weights that were saved last; null where there are none. */
  lastWeights(): string | null
}

/**
 * The loop of every trainer of token models, and the one place that steps their optimisers: collect, update, validate, checkpoint, until the
 * steps are done. Ends with the weights that `validation.keep` says.
 *
 * @throws AgogeError `non-finite-loss` naming the step, where loss or gradient are not finite. The last good weights are saved.
 * @throws the reason of `run.signal`, where that aborts.
 * @example
 * // A trainer: the model learns to say what it is shown.
 * const part: TrainingPart<TrainingSequence[]> = {
 *   name: 'imitate',
 *   steps: 100,
 *   collect: (step) => createRandom(seed, 'batch', step).shuffle(rows).slice(0, 16),
 *   async update(batch, tools) {
 *     const step = tools.schedule({ learningRate: 1e-3, warmup: 10 })
 *     const { loss, gradientNorm } = await tools.apply(backend, { sequences: batch, loss: { name: 'cross_entropy' } }, step)
 *     return { loss, gradientNorm }
 *   },
 *   validation: { measure: 'accuracy', isDue: (step, over) => over || step % 20 === 0, score, keep: 'best' },
 * }
 * // Without `out` it trains in memory. With it, `resume: true` continues after a kill, to the same weights.
 * const { records } = await runTraining(part, { models: { model: backend }, settings: { seed }, out: 'runs/imitate' })
 */
export async function runPart<Batch>(part: TrainingPart<Batch>, run: TrainingRun): Promise<void> {
  const { state, emit } = run
  const { validation, steps } = part
  const progress = (): number => part.progress?.() ?? (steps === null || steps === 0 ? 1 : state.step / steps)
  emit({ type: 'phase', name: part.name, total: steps })
  for (;;) {
    run.signal?.throwIfAborted()
    const over = progress() >= 1
    if (validation !== undefined && state.validated !== state.step && validation.isDue(state.step, over))
      await validate(part.name, validation, run)
    if (over || (state.best !== null && validation?.isSettled?.(state.best) === true)) break
    const started = performance.now()
    run.clearCaches()
    const batch = await part.collect(state.step)
    const metrics = await part
      .update(batch, stepTools(part, run, progress))
      .catch((error: unknown) => named(part.name, run, error))
    // From here to the record, the step is done and nothing waits.
    state.step++
    run.settled = true
    run.record(part.name, (performance.now() - started) / 1000, steps, defined(metrics))
    if (state.step % run.checkpointEvery !== 0) continue
    await part.settle?.()
    await run.checkpoint()
  }
  const { best } = state
  if (best !== null && validation?.keep === 'best' && best.step !== state.step)
    await run.loadWeights(best.checkpoint)
}

async function validate(name: string, validation: Validation, run: TrainingRun): Promise<void> {
  const { state } = run
  const { measure, keep } = validation
  const { score, metrics } = await validation.score()
  if (keep === 'best') {
    if (state.best === null || score > state.best.score) {
      const checkpoint = `${name}-best-${state.step}`
      await run.saveWeights(checkpoint)
      state.best = { score, step: state.step, checkpoint, without: 0 }
      validation.onBest?.()
    } else state.best = { ...state.best, without: state.best.without + 1 }
  }
  state.validated = state.step
  const best = state.best === null ? {} : { best: state.best.score }
  run.record(`${name}-validation`, 0, null, { [measure]: score, ...best, ...metrics })
}

function stepTools<Batch>(part: TrainingPart<Batch>, run: TrainingRun, progress: () => number): StepTools {
  const { state, signal } = run
  const tools: StepTools = {
    step: state.step,
    get progress() {
      return progress()
    },
    signal,
    schedule: (settings) => optimStepAt(settings, state.step, progress()),
    async apply(backend, { sequences, loss }, step, names) {
      const abort = signal === undefined ? {} : { signal }
      const report = await forwardBackward(backend, sequences, loss, abort).catch((error: unknown) =>
        named(part.name, run, error, names),
      )
      return { ...report, ...(await tools.move(backend, step, names)) }
    },
    restart(model, folder) {
      run.settled = false
      return model.load(folder)
    },
    move(model, step, names) {
      run.settled = false
      return moveWeights(model, step).catch((error: unknown) => named(part.name, run, error, names))
    },
  }
  return tools
}

/** One optimiser step, outside of a run. @throws AgogeError `gradient-not-finite` where the gradient was no number. */
export async function moveWeights(
  model: Pick<TrainedModel, 'optimStep'>,
  step: OptimStep,
): Promise<OptimReport> {
  const { gradientNorm } = await model.optimStep(step)
  // Some servers do not report a norm.
  if (gradientNorm === undefined || Number.isFinite(gradientNorm)) return { gradientNorm }
  throw new AgogeError(`The gradient's norm is ${gradientNorm}`, {
    code: 'gradient-not-finite',
    given: gradientNorm,
    expected: 'a finite number',
  })
}

/**
 * One update of a language model, outside of a run: loss, gradient, optimiser step.
 *
 * @throws AgogeError `non-finite-loss` or `gradient-not-finite`.
 */
export async function applyUpdate(
  backend: Pick<ModelBackend, 'forward' | 'forwardBackward' | 'optimStep'>,
  { sequences, loss }: Pick<PolicyUpdate, 'sequences' | 'loss'>,
  step: OptimStep,
): Promise<CustomLossReport & OptimReport> {
  const report = await forwardBackward(backend, sequences, loss)
  return { ...report, ...(await moveWeights(backend, step)) }
}

/** What backends call it. */
const nonFinite = ['non-finite-loss', 'gradient-not-finite']

/** Rethrows; a loss or a gradient that is not finite with the step in which it happened. */
async function named(
  phase: string,
  run: TrainingRun,
  error: unknown,
  names: () => readonly string[] = () => [],
): Promise<never> {
  const known = AgogeError.isInstance(error) && nonFinite.includes(error.code) && !isNamed(error)
  throw known ? await diverged(phase, run, error, names()) : error
}

const isNamed = ({ given }: AgogeError): boolean =>
  typeof given === 'object' && given !== null && 'phase' in given

/** Names in the message; `given` has all of them. */
const shown = 8

async function diverged(
  phase: string,
  run: TrainingRun,
  cause: AgogeError,
  names: readonly string[],
): Promise<AgogeError> {
  const { state } = run
  // Weights that no update has touched since the last step are good, and worth more than older ones.
  if (run.settled && state.step > 0) await run.checkpoint()
  const kept = run.lastWeights()
  const more = names.length > shown ? ` and ${names.length - shown} more` : ''
  const batch = names.length === 0 ? '' : ` The batch: ${names.slice(0, shown).join(', ')}${more}`
  return new AgogeError(`Training stopped in step ${state.step + 1} of ${phase}. ${cause.message}.${batch}`, {
    code: 'non-finite-loss',
    given: { phase, step: state.step + 1, episodes: names },
    expected: 'a loss and a gradient that are finite numbers',
    hint: `${kept === null ? 'No checkpoint was written yet' : `The last good weights are in ${kept}`}; lower the learning rate or clip the gradient in a new run`,
    cause,
  })
}

/**
 * The optimiser step at `step` (from 0): linear warm-up, then linear decay by `progress` (0 at the start, 1 at the
 * end of the budget) down to `final` of the peak.
 */
export function optimStepAt(settings: OptimiserSettings, step: number, progress: number): OptimStep {
  const { learningRate, warmup = 0, final = 0, optimizer, weightDecay, beta1, beta2, clip } = settings
  const rise = Math.min(1, (step + 1) / (warmup + 1))
  const fall = 1 - (1 - final) * Math.min(1, Math.max(0, progress))
  return {
    learningRate: learningRate * rise * fall,
    ...(optimizer === undefined ? {} : { optimizer }),
    ...(weightDecay === undefined ? {} : { weightDecay }),
    ...(beta1 === undefined ? {} : { beta1 }),
    ...(beta2 === undefined ? {} : { beta2 }),
    ...(clip === undefined ? {} : { clip }),
  }
}

function defined(metrics: StepMetrics): Record<string, number> {
  return Object.fromEntries(
    Object.entries(metrics).filter((entry): entry is [string, number] => entry[1] !== undefined),
  )
}
