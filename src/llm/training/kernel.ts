import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import type { OnTrainingEvent } from '../../runs/run-folder.ts'
import type { PolicyUpdate } from '../algorithm/types.ts'
import { forwardBackward } from '../backend/custom-loss.ts'
import type { CustomLossReport } from '../backend/custom-loss.ts'
import type { ModelBackend, OptimReport, OptimStep } from '../model-backend.ts'

/**
 * Optimiser settings and schedule. The learning rate warms up linearly over the first `warmup` steps. It also decays linearly
 * with the progress of the training, from the first step on, to `final` times its peak. The two factors are multiplied.
 */
export interface OptimiserSettings {
  /** Peak learning rate. */
  learningRate: number
  /** Number of warm-up steps. Default: 0. */
  warmup?: number
  /** Learning rate at the end, as a share of the peak. Default: 0. */
  final?: number
  /** Default: the backend's own, as for the fields below. */
  optimizer?: OptimStep['optimizer']
  weightDecay?: number
  beta1?: number
  beta2?: number
  /** Maximum global norm of the gradient. Default: no clipping. */
  clip?: number
}

/** A model with an optimiser: a language model (`ModelBackend`) or a `ScalarModel`. */
export interface TrainedModel {
  optimStep(step: OptimStep): Promise<OptimReport>
  save(folder: string): Promise<void>
  load(folder: string): Promise<void>
  /** Clears cached prompts, so that earlier samples cannot influence later ones. */
  clearCache?(): void
}

/** What `update` can do in one training step. */
export interface StepTools {
  /** Number of this step, from 0. */
  readonly step: number
  /** Share of the training that is done, 0 to 1. */
  readonly progress: number
  readonly signal: AbortSignal | undefined
  /** Optimiser settings for this step, including warm-up and decay. */
  schedule(settings: OptimiserSettings): OptimStep
  /**
   * Computes the loss and gradient of a language model, then makes one optimiser step.
   *
   * @param names returns names for the samples of the batch, such as episode ids. The error for a non-finite loss lists them.
   */
  apply(
    backend: Pick<ModelBackend, 'forward' | 'forwardBackward' | 'optimStep'>,
    update: Pick<PolicyUpdate, 'sequences' | 'loss'>,
    step: OptimStep,
    names?: () => readonly string[],
  ): Promise<CustomLossReport & OptimReport>
  /** Loads a model's weights from a folder. */
  restart(model: Pick<TrainedModel, 'load'>, folder: string): Promise<void>
  /** Makes one optimiser step with the gradient that the model has accumulated. */
  move(
    model: Pick<TrainedModel, 'optimStep'>,
    step: OptimStep,
    names?: () => readonly string[],
  ): Promise<OptimReport>
}

/** Metrics of a step. Undefined ones are left out. */
export type StepMetrics = Record<string, number | undefined>

/** When and how a training part scores its models, and which weights it ends with. */
export interface Validation {
  /** Returns whether to validate after `step` steps. `over` is true after the last step. */
  isDue(step: number, over: boolean): boolean
  /** Name of the score, such as `success`. Higher is better. */
  measure: string
  score(): Promise<{ score: number; metrics?: Record<string, number> }>
  /** Final weights. `best`: those with the highest score, the latest if tied. `last`: those of the last step. */
  keep: 'best' | 'last'
  /** Early stopping: returns true to end the training now. */
  isSettled?(best: BestCheckpoint): boolean
  /** Called when a score is the best so far. */
  onBest?(): void
}

/**
 * The part of a trainer that is specific to its method. A step may depend only on its number, the weights, the optimiser and the
 * state of `exportState`. Then a resumed run ends with the same weights as an uninterrupted one.
 */
export interface TrainingPart<Batch> {
  /** Name of the phase in metrics and events. */
  name: string
  /** Number of steps; null if `progress` decides when to end. It is read before each step, so it may fall during the training. */
  readonly steps: number | null
  /** Share of the training that is done; training ends at 1. Default: share of the steps. */
  progress?(): number
  /** Returns the batch of a step, counted from 0. Random streams must be keyed by the step alone. */
  collect(step: number): Promise<Batch> | Batch
  /** Learns from the batch. Makes all optimiser steps through `tools`. */
  update(batch: Batch, tools: StepTools): Promise<StepMetrics>
  validation?: Validation | undefined
  /** Other state that the next step depends on: numbers, strings, typed arrays, plain objects, arrays, maps. */
  exportState?(): unknown
  importState?(state: unknown): void
  /** Waits for files that a checkpoint needs. */
  settle?(): Promise<void>
}

export interface BestCheckpoint {
  score: number
  step: number
  checkpoint: string
  /** Number of validations since the score last rose. */
  without: number
}

/** The position in the training; part of every checkpoint. */
export interface TrainingPosition {
  /** Number of steps done. */
  step: number
  /** Step of the last validation, or -1 before the first one. */
  validated: number
  best: BestCheckpoint | null
}

/** Where a training is stored: in a run folder or in memory. See `runTraining`. */
export interface TrainingRun {
  readonly state: TrainingPosition
  readonly checkpointEvery: number
  readonly signal: AbortSignal | undefined
  /** False while the weights are ahead of `state`, within a training step. No checkpoint may be written then. */
  weightsMatchState: boolean
  readonly emit: OnTrainingEvent
  /** Writes one line of metrics for the current step and emits it. `total` is the number of steps, null if unknown. */
  record(phase: string, seconds: number, total: number | null, metrics: Record<string, number>): void
  checkpoint(): Promise<void>
  saveWeights(name: string): Promise<void>
  loadWeights(name: string): Promise<void>
  clearCaches(): void
  /** Called after each update of a language model with the number of tokens in its sequences. */
  countTrained?(tokens: number): void
  /** Path of the last saved weights; null if there are none. */
  lastWeights(): string | null
}

/**
 * The training loop that all trainers of language models share. It repeats: collect a batch, update, validate, checkpoint. At
 * the end it loads the weights that `validation.keep` selects.
 *
 * @throws AgogeError `non-finite-loss` if the loss or gradient is not finite. The error names the step. The last good weights
 *   are saved.
 * @throws the reason of `run.signal` if it aborts.
 * @example
 * // Supervised fine-tuning.
 * const part: TrainingPart<TrainingSequence[]> = {
 *   name: 'sft',
 *   steps: 100,
 *   collect: (step) => createRandom(seed, 'batch', step).shuffle(rows).slice(0, 16),
 *   async update(batch, tools) {
 *     const step = tools.schedule({ learningRate: 1e-3, warmup: 10 })
 *     const { loss, gradientNorm } = await tools.apply(backend, { sequences: batch, loss: { name: 'cross_entropy' } }, step)
 *     return { loss, gradientNorm }
 *   },
 *   validation: { measure: 'accuracy', isDue: (step, over) => over || step % 20 === 0, score, keep: 'best' },
 * }
 * // Without `out` it trains in memory. With `out`, `resume: true` continues an interrupted run and ends with the same weights.
 * const { records } = await runTraining(part, { models: { model: backend }, settings: { seed }, out: 'runs/sft' })
 */
export async function runPart<Batch>(part: TrainingPart<Batch>, run: TrainingRun): Promise<void> {
  const { state, emit } = run
  const { validation } = part
  const progress = (): number =>
    part.progress?.() ?? (part.steps === null || part.steps === 0 ? 1 : state.step / part.steps)
  emit({ type: 'phase', name: part.name, total: part.steps })
  for (;;) {
    run.signal?.throwIfAborted()
    const isDone = progress() >= 1
    if (validation !== undefined && state.validated !== state.step && validation.isDue(state.step, isDone))
      await validate(part.name, validation, run)
    if (isDone || (state.best !== null && validation?.isSettled?.(state.best) === true)) break
    const started = performance.now()
    run.clearCaches()
    const batch = await part.collect(state.step)
    const metrics = await part
      .update(batch, stepTools(part, run, progress))
      .catch((error: unknown) => rethrowWithStep(part.name, run, error))
    // No await from here to `record`, so that the counter, the flag and the metrics change together.
    state.step++
    run.weightsMatchState = true
    run.record(
      part.name,
      (performance.now() - started) / 1000,
      part.steps,
      defined(metrics) as Record<string, number>,
    )
    if (state.step % run.checkpointEvery !== 0) continue
    await part.settle?.()
    await run.checkpoint()
  }
  const { best } = state
  if (best !== null && validation?.keep === 'best' && best.step !== state.step) {
    await run.loadWeights(best.checkpoint)
    const text = `${part.name} ends with the weights of step ${best.step} of ${state.step}, the best in validation`
    emit({ type: 'note', text })
  }
}

async function validate(name: string, validation: Validation, run: TrainingRun): Promise<void> {
  const { state } = run
  const { measure, keep } = validation
  const { score, metrics } = await validation.score()
  if (keep === 'best') {
    const { best } = state
    if (best === null || score >= best.score) {
      const checkpoint = `${name}-best-${state.step}`
      await run.saveWeights(checkpoint)
      // Of equal scores the latest is kept, since it has learnt from more.
      const without = best !== null && score === best.score ? best.without + 1 : 0
      state.best = { score, step: state.step, checkpoint, without }
      validation.onBest?.()
    } else state.best = { ...best, without: best.without + 1 }
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
        rethrowWithStep(part.name, run, error, names),
      )
      const moved = await tools.move(backend, step, names)
      run.countTrained?.(sequences.reduce((sum, { tokens }) => sum + tokens.length, 0))
      return { ...report, ...moved }
    },
    restart(model, folder) {
      run.weightsMatchState = false
      return model.load(folder)
    },
    move(model, step, names) {
      run.weightsMatchState = false
      return moveWeights(model, step).catch((error: unknown) => rethrowWithStep(part.name, run, error, names))
    },
  }
  return tools
}

/** Makes one optimiser step outside of a run. @throws AgogeError `gradient-not-finite` if the gradient is not finite. */
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
 * Makes one update of a language model outside of a run: loss, gradient, optimiser step.
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

/** Error codes of backends for a loss or gradient that is not finite. */
const nonFiniteCodes = ['non-finite-loss', 'gradient-not-finite']

/** Rethrows the error. Adds the step to errors about a loss or gradient that is not finite. */
async function rethrowWithStep(
  phase: string,
  run: TrainingRun,
  error: unknown,
  names: () => readonly string[] = () => [],
): Promise<never> {
  const isNonFinite = AgogeError.isInstance(error) && nonFiniteCodes.includes(error.code) && !hasStep(error)
  throw isNonFinite ? await nonFiniteError(phase, run, error, names()) : error
}

const hasStep = ({ given }: AgogeError): boolean =>
  typeof given === 'object' && given !== null && 'phase' in given

/** Maximum names in the message. The field `given` has all of them. */
const maxNamesShown = 8

async function nonFiniteError(
  phase: string,
  run: TrainingRun,
  cause: AgogeError,
  names: readonly string[],
): Promise<AgogeError> {
  const { state } = run
  // No optimiser step was made in this training step. So the weights are good, and newer than the last checkpoint.
  if (run.weightsMatchState && state.step > 0) await run.checkpoint()
  const lastWeights = run.lastWeights()
  const more = names.length > maxNamesShown ? ` and ${names.length - maxNamesShown} more` : ''
  const batch = names.length === 0 ? '' : ` The batch: ${names.slice(0, maxNamesShown).join(', ')}${more}`
  return new AgogeError(`Training stopped in step ${state.step + 1} of ${phase}. ${cause.message}.${batch}`, {
    code: 'non-finite-loss',
    given: { phase, step: state.step + 1, episodes: names },
    expected: 'a loss and a gradient that are finite numbers',
    hint: `${lastWeights === null ? 'No checkpoint was written yet' : `The last good weights are in ${lastWeights}`}; lower the learning rate or clip the gradient in a new run`,
    cause,
  })
}

/**
 * Returns the optimiser step for step number `step`, counted from 0. The learning rate is the peak times the warm-up factor
 * times the decay factor. The decay factor falls linearly from 1 at `progress` 0 to `final` at `progress` 1.
 */
export function optimStepAt(settings: OptimiserSettings, step: number, progress: number): OptimStep {
  const { learningRate, warmup = 0, final = 0, optimizer, weightDecay, beta1, beta2, clip } = settings
  const warmupFactor = Math.min(1, (step + 1) / (warmup + 1))
  const decayFactor = 1 - (1 - final) * Math.min(1, Math.max(0, progress))
  return {
    learningRate: learningRate * warmupFactor * decayFactor,
    ...defined({ optimizer }),
    ...defined({ weightDecay }),
    ...defined({ beta1 }),
    ...defined({ beta2 }),
    ...defined({ clip }),
  }
}
