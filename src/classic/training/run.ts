import { isEnvironmentDefinition, openVector, wholeEpisodes } from '../environment/index.ts'
import type { AnyVector, OpenedVector, VectorState } from '../environment/index.ts'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import type { ClassicTrainOptions, EvaluationSettings } from './types.ts'
import type { OnTrainingEvent, RunFolder } from '../../runs/run-folder.ts'
import type { ClassicAgent } from '../algorithm/agent.ts'
import { checkStep } from './check-step.ts'
import { metricsFile } from '../../runs/metrics.ts'
import { loadStep, restoreAgent, saveStep } from './run-record.ts'
import type { LearnerState, RunState, Times } from './run-record.ts'

/** Gathers metrics between two lines of `metrics.jsonl`. */
interface Metrics {
  /** Counts the episodes that ended in the last step. */
  stepped(environment: AnyVector): void
  /** Adds the metrics of one update. */
  updated(metrics: Readonly<Record<string, number>>): void
  /** Returns the means since the last call, with `return` and `length` of episodes first. Starts over. */
  take(): Record<string, number>
  /** Number of episodes that have ended so far. */
  readonly episodes: number
  state(): MetricsState
  restore(state: MetricsState): void
}

export interface MetricsState {
  episodes: number
  sums: Record<string, number>
  counts: Record<string, number>
}

function createMetrics(): Metrics {
  let episodes = 0
  let sums: Record<string, number> = {}
  let counts: Record<string, number> = {}

  function add(name: string, value: number): void {
    sums[name] = (sums[name] ?? 0) + value
    counts[name] = (counts[name] ?? 0) + 1
  }

  return {
    stepped({ definition: { agentNames }, terminated, truncated, returns, lengths }) {
      for (let i = 0; i < terminated.length; i++) {
        if (terminated[i] === 0 && truncated[i] === 0) continue
        episodes++
        add('return', returns[i])
        add('length', lengths[i])
        if (agentNames !== undefined) add(`return-${agentNames[i % agentNames.length]}`, returns[i])
      }
    },
    updated(metrics) {
      for (const [name, value] of Object.entries(metrics)) add(name, value)
    },
    take() {
      const {
        return: gained,
        length,
        ...rest
      } = Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sum / counts[name]]))
      sums = {}
      counts = {}
      return { ...(gained === undefined ? {} : { return: gained, length }), ...rest }
    },
    get episodes() {
      return episodes
    },
    state: () => ({ episodes, sums: { ...sums }, counts: { ...counts } }),
    restore(state) {
      episodes = state.episodes
      sums = { ...state.sums }
      counts = { ...state.counts }
    },
  }
}

/** Options with their defaults filled in. */
export interface OpenedTraining {
  numEnvs: number
  seed: number
  evaluate: Required<EvaluationSettings>
}

/**
 * Opens the environment of a run, and fills in the defaults of its options.
 *
 * @throws AgogeError `bad-argument` without an environment, for numbers of steps or episodes that are not whole
 * numbers, and for one object where several are needed.
 */
export async function openTraining(
  options: ClassicTrainOptions,
): Promise<OpenedTraining & { environment: OpenedVector }> {
  const { definition, steps, seed = 0, contextFor } = options
  if (typeof definition !== 'function' && (typeof definition !== 'object' || definition === null)) {
    throw new AgogeError('There is no environment to train in', {
      code: 'bad-argument',
      given: definition,
      expected: 'an environment, an object with reset and step, or a function that makes such objects',
      ...(typeof definition === 'string'
        ? { hint: `classicEnvironments['${String(definition)}'] is the environment of a name` }
        : {}),
    })
  }
  const name = definition.name ?? 'an environment'
  if (!(steps >= 1 && steps < Infinity)) {
    throw new AgogeError(`A run on ${name} cannot have ${steps} steps`, {
      code: 'bad-argument',
      given: steps,
      expected: 'a number of at least 1',
    })
  }
  const isSingle = typeof definition !== 'function' && !isEnvironmentDefinition(definition)
  const { numEnvs = isSingle ? 1 : wholeEpisodes(isEnvironmentDefinition(definition) ? definition : {}, 8) } =
    options
  const evaluate = {
    episodes: options.evaluate?.episodes ?? 100,
    every: options.evaluate?.every ?? (isSingle ? 0 : Math.ceil((Math.ceil(steps / numEnvs) * numEnvs) / 10)),
    during: options.evaluate?.during ?? 20,
  }
  if (isSingle && evaluate.every > 0) {
    throw new AgogeError(`${name} is one object, which cannot be trained on and evaluated at the same time`, {
      code: 'bad-argument',
      given: `an evaluation every ${evaluate.every} steps`,
      expected: 'evaluate.every of 0, or a function that makes environments',
    })
  }
  for (const [name, least] of [
    ['episodes', 1],
    ['during', evaluate.every > 0 ? 1 : 0],
  ] as const) {
    if (Number.isSafeInteger(evaluate[name]) && evaluate[name] >= least) continue
    throw new AgogeError(`An evaluation cannot have ${evaluate[name]} episodes`, {
      code: 'bad-argument',
      given: { evaluate: { [name]: evaluate[name] } },
      expected: 'a positive integer',
      hint: 'evaluate: { every: 0 } evaluates only after training',
    })
  }
  const environment = await openVector(definition, {
    numEnvs,
    seed,
    ...defined({ contextFor }),
  })
  return { environment, numEnvs, seed, evaluate }
}

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

/** Whether the last step passed a multiple of this many steps; never for 0. */
export function passed({ state, options }: Pick<Run, 'state' | 'options'>, every: number): boolean {
  const before = state.step - options.numEnvs
  return every > 0 && Math.floor(state.step / every) > Math.floor(before / every)
}

/** Prepares a run for its first step. Resets the environment, so that the algorithm sees an observation. */
export async function createRun(
  environment: OpenedVector,
  options: Run['options'],
  folder: RunFolder | null,
): Promise<Run> {
  const { numEnvs, seed, steps, threads, batch, algorithm, onEvent = () => {} } = options
  const total = Math.ceil(steps / numEnvs) * numEnvs
  await environment.reset()
  checkStep(environment, 0)
  return {
    options,
    environment,
    agent: await algorithm(environment, { seed, totalSteps: total, ...defined({ threads, batch }) }),
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
export async function resumeRun(run: Run, folder: RunFolder): Promise<void> {
  const { environment, agent, state, times, measured, total } = run
  const { name } = environment.definition
  const saved = await loadStep(folder)
  if (saved === null)
    return run.emit({ type: 'note', text: `${folder.path} has no checkpoint yet: the run begins anew` })
  const { learner, damage } = saved
  if (damage !== undefined) run.emit({ type: 'note', text: damage })
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
  saveStep(folder, state, times, () => learnerState(run), state.step >= run.total)
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
