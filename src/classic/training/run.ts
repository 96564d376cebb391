import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import type { OnTrainingEvent } from '../../runs/run-folder.ts'
import type { RunFolder } from '../../runs/run-folder.ts'
import type { ClassicAgent } from '../algorithm/agent.ts'
import type { OpenedVector, VectorState } from '../environment/index.ts'
import { checkStep } from './check-step.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import type { OpenedTraining } from './open-training.ts'
import {
  loadStep,
  metricsFile,
  restoreAgent,
  type LearnerState,
  type RunState,
  saveStep,
  type Times,
} from './run-record.ts'
import type { ClassicTrainOptions } from './types.ts'

/** Approximate number of lines in the `metrics.jsonl` of a run, and the fewest steps between two lines. */
const lines = 200
const fewest = 256

/**
 * A run in progress: the state that checkpoints keep (`state`, `times`, agent, environment, `measured`), and its
 * tools.
 */
export interface Run {
  readonly options: ClassicTrainOptions & OpenedTraining & { command: string }
  readonly environment: OpenedVector
  readonly agent: ClassicAgent
  readonly folder: RunFolder | null
  readonly emit: OnTrainingEvent
  readonly state: RunState
  readonly times: Times
  /** Episodes and updates since the last line of metrics. */
  readonly measured: Metrics
  /** Environment steps of the whole run, between two lines of metrics, and between two checkpoints. */
  readonly total: number
  readonly logEvery: number
  readonly checkpointEvery: number
  /** Warnings that have been given. */
  readonly warned: { endless: boolean; notFinite: boolean }
  /** The last reading of the clock. */
  started: number
}

/** Prepares a run for its first step. Resets the environment, so that the algorithm sees an observation. */
export async function createRun(
  environment: OpenedVector,
  options: Run['options'],
  folder: RunFolder | null,
): Promise<Run> {
  const { numEnvs, seed, steps, threads, algorithm, onEvent = () => {} } = options
  const total = Math.ceil(steps / numEnvs) * numEnvs
  await environment.reset()
  checkStep(environment, 0)
  return {
    options,
    environment,
    agent: await algorithm(environment, { seed, totalSteps: total, ...defined({ threads }) }),
    folder,
    emit: onEvent,
    state: { schema: 1, step: 0, written: 0, evaluations: [], sets: [], best: null, notFinite: 0 },
    times: { seconds: 0, evaluationSeconds: 0 },
    measured: createMetrics(),
    total,
    logEvery: Math.max(numEnvs, fewest, Math.ceil(total / lines)),
    checkpointEvery: options.checkpointEvery ?? Math.ceil(total / 20),
    warned: { endless: false, notFinite: false },
    started: performance.now(),
  }
}

/**
 * Restores a run.
 *
 * @throws AgogeError `not-resumable` if the environments could not be saved, and `checkpoint-mismatch`.
 */
export function resumeRun(run: Run, folder: RunFolder): void {
  const { environment, agent, state, times, measured, total } = run
  const { name } = environment.definition
  const saved = loadStep(folder)
  if (saved === null)
    return run.emit({ type: 'note', text: `${folder.path} has no checkpoint yet: the run begins anew` })
  const { learner } = saved
  restoreAgent(agent, learner, { path: folder.path, environment: name })
  if (learner.environment !== undefined) environment.restore(learner.environment)
  else if (saved.state.step < total) throw notResumable(name, saved.state.step)
  measured.restore(learner.measured)
  Object.assign(state, saved.state)
  const { seconds, evaluationSeconds } = saved.times
  Object.assign(times, { seconds, evaluationSeconds })
}

/** Seconds since the last call. */
export function clock(run: Run): number {
  const now = performance.now()
  const seconds = (now - run.started) / 1000
  run.started = now
  return seconds
}

/** Appends a line to `metrics.jsonl`. */
export function record(run: Run, phase: string, seconds: number, metrics: Record<string, number>): void {
  run.folder?.append(metricsFile, [JSON.stringify({ phase, step: run.state.step, seconds, metrics })])
}

/** Writes the metrics of training since the last line, and emits them as an event. */
export function logMetrics(run: Run): void {
  const { state, times, measured, total } = run
  const seconds = clock(run)
  times.seconds += seconds
  const taken = state.step - state.written
  state.written = state.step
  const metrics = { ...measured.take(), stepsPerSecond: taken / seconds }
  record(run, 'train', seconds, metrics)
  run.emit({ type: 'step', phase: 'train', step: state.step, total, seconds, metrics })
}

const learnerState = ({ state, agent, environment, measured }: Run): LearnerState => ({
  step: state.step,
  agent: agent.state(),
  environment: stateOf(environment),
  measured: measured.state(),
})

/** Writes a checkpoint, if there is a run folder. */
export function saveRunStep(run: Run): void {
  const { folder, state, times } = run
  if (folder === null) return
  times.seconds += clock(run)
  saveStep(folder, state, times, () => learnerState(run))
}

/** Undefined for objects that cannot be saved. */
export function stateOf(environment: OpenedVector): VectorState | undefined {
  try {
    return environment.state()
  } catch (error) {
    if (AgogeError.isInstance(error) && error.code === 'not-resumable') return undefined
    throw error
  }
}

const notResumable = (name: string, step: number): AgogeError =>
  new AgogeError(`The run cannot be resumed after ${step} steps: ${name} cannot be saved`, {
    code: 'not-resumable',
    given: 'environments without state() and restore()',
    expected: 'both, with everything that the rest of an episode depends on',
  })
