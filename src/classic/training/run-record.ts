import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { damagedFile, hasChecked, readCheckedBytes, weightsGone, writeChecked } from '../../runs/checksums.ts'
import type { RunFolder } from '../../runs/run-folder.ts'
import { currentCheckpoint, loadRun, readConfig, saveRun } from '../../runs/run-store.ts'
import { decodeState, encodeState } from '../../runs/state-bytes.ts'
import type { ClassicAgent } from '../algorithm/agent.ts'
import type { VectorState } from '../environment/index.ts'
import type { MetricsState } from './run.ts'
import type { BestEvaluation, Evaluation, SetEvaluation } from './types.ts'

/** The state of a run between two steps, as plain JSON in `state.json`. */
export interface RunState {
  schema: 1
  /** Environment steps so far, and at the last line of metrics. */
  step: number
  written: number
  evaluations: Evaluation[]
  /** The last evaluation on each set, if there are several sets of contexts. */
  sets: SetEvaluation[]
  /** The evaluation whose checkpoint is kept; null before the first. */
  best: BestEvaluation | null
  /** Successive updates with a metric that is not finite. */
  notFinite: number
}

/** Wall-clock times, which are no part of a checkpoint. */
export interface Times {
  seconds: number
  evaluationSeconds: number
}

/** The large state that the next step depends on, in `checkpoints/NAME/learner.bin`. */
export interface LearnerState {
  /** Environment steps so far. */
  step: number
  agent: unknown
  /** Undefined for objects that cannot be saved. */
  environment: VectorState | undefined
  measured: MetricsState
}

export const checkpointAt = (step: number): string => `step-${step}`

const learnerFile = (checkpoint: string): string => `checkpoints/${checkpoint}/learner.bin`

/** Writes a checkpoint to resume from. The checkpoint of the best evaluation is kept as well. */
export function saveStep(
  folder: RunFolder,
  state: RunState,
  times: Times,
  learner: () => LearnerState,
  isOver: boolean,
): void {
  const checkpoint = checkpointAt(state.step)
  if (currentCheckpoint(folder) !== checkpoint) {
    folder.makeFolder(`checkpoints/${checkpoint}`)
    writeChecked(folder, learnerFile(checkpoint), encodeState(learner()))
  }
  const keep = state.best?.checkpoint === undefined ? [] : [state.best.checkpoint]
  saveRun(folder, { checkpoint, state, times, keep, isOver })
}

/**
 * Loads the last checkpoint, or the one before it if a file of the last is damaged; `damage` then says which. Null if there is none. Removes
 * metrics that were written after it.
 */
export async function loadStep(folder: RunFolder): Promise<{
  checkpoint: string
  state: RunState
  times: Times
  learner: LearnerState
  damage: string | undefined
} | null> {
  const saved = await loadRun(folder, ({ schema, step }) => schema === 1 && typeof step === 'number')
  if (saved === null) return null
  return {
    checkpoint: saved.checkpoint,
    state: saved.state as unknown as RunState,
    times: saved.times as unknown as Times,
    learner: readLearner(folder, saved.checkpoint),
    damage: saved.damage ?? saved.warning,
  }
}

function readLearner(folder: RunFolder, checkpoint: string): LearnerState {
  const name = learnerFile(checkpoint)
  if (!folder.has(name) && folder.has('summary.json')) throw weightsGone(folder.path)
  if (hasChecked(folder, name)) return decodeState(readCheckedBytes(folder, name)) as LearnerState
  throw damagedFile(folder.file(name), { given: 'no such file', expected: 'a checkpoint of this run' })
}

/**
 * Reads the settings and the state of a run, without opening the folder for writing.
 *
 * @param checkpoint name of the checkpoint. Default: the last one.
 * @throws AgogeError `no-model` if there is no checkpoint, `bad-run-folder` if it is damaged.
 */
export function readRun(
  folder: RunFolder,
  checkpoint: string | null = currentCheckpoint(folder),
): { config: Record<string, unknown>; learner: LearnerState } {
  const config = folder.has('config.json') ? readConfig(folder) : {}
  if (config['kind'] === 'array' && checkpoint !== null)
    return { config, learner: readLearner(folder, checkpoint) }
  if (config['kind'] === 'array' && folder.has('summary.json')) throw weightsGone(folder.path)
  throw new AgogeError(`There is no trained agent in ${folder.path}`, {
    code: 'no-model',
    given: folder.path,
    expected: 'the folder of a classic run with a checkpoint',
    hint: 'Train one: agoge train cartpole --algorithm ppo',
  })
}

/**
 * Restores a new agent from a checkpoint.
 *
 * @param where path of the checkpoint, for the message.
 * @throws AgogeError `checkpoint-mismatch` naming the environment, the step and the first field that does not fit.
 */
export function restoreAgent(
  agent: ClassicAgent,
  saved: { agent: unknown; step?: number },
  where: { path: string; environment: string },
): void {
  const why = explainMisfit(agent.state(), saved.agent, 'agent')
  if (why !== undefined) throw misfit(where, saved.step, why)
  try {
    agent.restore(saved.agent)
  } catch (cause) {
    throw misfit(where, saved.step, String(cause), cause)
  }
}

/** The error for a checkpoint of something else. */
function misfit(
  { path, environment }: { path: string; environment: string },
  step: number | undefined,
  given: string,
  cause?: unknown,
): AgogeError {
  const taken = step === undefined ? '' : `, taken after ${step} steps,`
  return new AgogeError(`The checkpoint in ${path}${taken} does not fit ${environment}`, {
    code: 'checkpoint-mismatch',
    given,
    expected: 'a checkpoint of the same environment, algorithm and settings',
    hint: 'Settings that were changed in the program need a new run',
    ...defined({ cause }),
  })
}

/**
 * The first place where a saved state has other fields than the current one, or arrays of other lengths; undefined
 * if there is none. Copying a short array into a long one would not fail, and would leave half of the weights
 * unchanged. What is empty in the current state may have any length in the saved one.
 */
function explainMisfit(own: unknown, saved: unknown, field: string): string | undefined {
  const length = lengthOf(own)
  if (length !== undefined) {
    const found = lengthOf(saved)
    if (found === undefined) return `${field} is no array`
    return length === 0 || found === length ? undefined : `${field} has ${found} entries, not ${length}`
  }
  // What `agoge convert` cannot carry over starts anew.
  if (typeof own !== 'object' || own === null || saved === null) return undefined
  if (typeof saved !== 'object') return `${field} is ${JSON.stringify(saved)}`
  for (const [name, value] of Object.entries(own)) {
    const why = explainMisfit(value, (saved as Record<string, unknown>)[name], `${field}.${name}`)
    if (why !== undefined) return why
  }
  return undefined
}

/** Typed arrays and their buffers, whose lengths are fixed. */
function lengthOf(value: unknown): number | undefined {
  if (value instanceof ArrayBuffer) return value.byteLength
  return ArrayBuffer.isView(value) ? (value as Uint8Array).length : undefined
}
