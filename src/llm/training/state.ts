import type { AgogeError } from '../../error.ts'
import { readWithChecksum, withChecksum, sha256 } from '../../runs/checksums.ts'
import type { CallCounts } from '../rollout/demonstrate.ts'
import type { TaskSamplerState } from '../rollout/task-sampler.ts'
import { damagedFile, forgetChecked, readTimes, saveTimes } from '../../runs/checked-files.ts'
import type { RunFolder } from '../../runs/run-folder.ts'
import type {
  DroppedTasks,
  ReinforcementRecord,
  StageSummary,
  TrainableBackend,
  TrainingSummary,
} from './types.ts'

export const phases = [
  'base',
  'warm-start',
  'warm-start-test',
  'rl',
  'rl-test',
  'unseen-wording',
  'supervised',
  'supervised-test',
  'done',
] as const

export type Phase = (typeof phases)[number]

/** Everything besides the weights that the loop needs to go on, plain JSON. */
export interface LoopState {
  schema: 1
  phase: Phase
  /** Steps done in this phase. */
  step: number
  /** Wall-clock used by the whole job, and within this phase, over all processes that worked on it. */
  seconds: number
  phaseSeconds: number
  rlSeconds: number
  supervisedSeconds: number
  warmStartSeconds: number
  sampler: TaskSamplerState | null
  /** What the algorithm keeps from update to update; absent = nothing yet. */
  memory?: Record<string, number>
  /** Success by family at the end of the warm start. */
  prior: Record<string, number>
  /** The best validation of the supervised phase that is running. */
  best: { score: number; step: number; checkpoint: string; without: number } | null
  /** The step of this phase that was validated last; -1 = none. */
  validated: number
  /** Names of kept checkpoints. */
  warmStart: string | null
  rl: string | null
  stages: StageSummary[]
  unseenParaphrases: NonNullable<TrainingSummary['unseenParaphrases']> | null
  demonstrations: Record<string, number>
  /** What the demonstrations showed of a server that does not do what it did when the tasks were proved; absent = nothing yet. */
  dropped?: DroppedTasks
  unstableTools?: Record<string, CallCounts>
  /** Groups that were learnt from, and episodes in them; absent = none yet. */
  signal?: Omit<ReinforcementRecord, 'steps'>
  /** Of masked episodes, as `cost.masked` counts them. */
  maskedReasons?: Record<string, number>
  cost: { sampledTokens: number; calls: number; episodes: number; masked: number }
  /** Bytes of the growing files at this moment; what lies beyond is recomputed. */
  offsets: Record<string, number>
}

export function initialState(): LoopState {
  return {
    schema: 1,
    phase: 'base',
    step: 0,
    seconds: 0,
    phaseSeconds: 0,
    rlSeconds: 0,
    supervisedSeconds: 0,
    warmStartSeconds: 0,
    sampler: null,
    prior: {},
    best: null,
    validated: -1,
    warmStart: null,
    rl: null,
    stages: [],
    unseenParaphrases: null,
    demonstrations: {},
    cost: { sampledTokens: 0, calls: 0, episodes: 0, masked: 0 },
    offsets: {},
  }
}

/** Files that grow; each checkpoint remembers how long they were. */
export const growingFiles = ['metrics.jsonl', 'episodes.jsonl'] as const

const stateFile = 'state.json'

/** What depends on clocks; it is kept in `times.json`. */
interface Times extends Pick<
  LoopState,
  'seconds' | 'phaseSeconds' | 'rlSeconds' | 'supervisedSeconds' | 'warmStartSeconds' | 'offsets'
> {
  stages: Pick<StageSummary, 'seconds' | 'evaluationSeconds'>[]
}

function splitClocks(state: LoopState): { steady: object; times: Times } {
  const { seconds, phaseSeconds, rlSeconds, supervisedSeconds, warmStartSeconds, offsets, ...rest } = state
  const split = rest.stages.map(({ seconds, evaluationSeconds, ...stage }) => ({
    stage,
    times: { seconds, evaluationSeconds },
  }))
  const stages = split.map(({ times }) => times)
  return {
    steady: { ...rest, stages: split.map(({ stage }) => stage) },
    times: { seconds, phaseSeconds, rlSeconds, supervisedSeconds, warmStartSeconds, offsets, stages },
  }
}

/**
 * Writes a checkpoint: the weights first, the state after them, last of all `state.json`, whose rename makes the
 * checkpoint the one to go on from. Checkpoints that nothing refers to any more are removed.
 */
export async function saveCheckpoint(
  folder: RunFolder,
  backend: TrainableBackend,
  state: LoopState,
): Promise<void> {
  const name = `${state.phase}-${state.step}`
  state.offsets = Object.fromEntries(growingFiles.map((file) => [file, folder.size(file)]))
  const before = readCurrent(folder)
  if (before?.checkpoint !== name) await saveWeights(folder, backend, name)
  const { steady, times } = splitClocks(state)
  const current = { checkpoint: name, state: steady }
  saveTimes(folder, before?.sum, sha256(JSON.stringify(current)), times)
  folder.write(stateFile, withChecksum(current, 1))
  const kept = new Set([name, state.best?.checkpoint, state.warmStart, state.rl])
  for (const other of folder.list('checkpoints'))
    if (!kept.has(other) && other !== 'final') folder.remove(`checkpoints/${other}`)
  for (const batch of folder.list('pending'))
    if (state.phase !== 'rl' || Number.parseInt(batch) < state.step) folder.remove(`pending/${batch}`)
  forgetChecked(folder, 'pending')
}

/** The file of a batch that was sampled and not yet learnt from; it goes with the first checkpoint after that. */
export const pendingFile = (batch: number): string => `pending/${batch}.json`

/** Writes the weights and the optimiser under `checkpoints/NAME`; one of that name is there until the new one is whole. */
export async function saveWeights(folder: RunFolder, backend: TrainableBackend, name: string): Promise<void> {
  folder.makeFolder('checkpoints')
  await folder.withFileErrors(`checkpoints/${name}`, () => backend.save(folder.file('checkpoints', name)))
}

/**
 * The state to go on from, or null where nothing was finished yet; cuts the growing files back to it.
 *
 * @throws AgogeError `bad-run-folder` where the state is gone or not what was written.
 */
export function loadState(folder: RunFolder): { checkpoint: string; state: LoopState } | null {
  const current = readCurrent(folder)
  // The first checkpoint's weights may be there without a state, more may not.
  if (current === null && (folder.has('summary.json') || folder.list('checkpoints').length > 1))
    throw damaged(folder, 'no such file')
  const saved =
    current === null ? null : { checkpoint: current.checkpoint, state: withClocks(folder, current) }
  for (const file of growingFiles) folder.truncate(file, saved?.state.offsets[file] ?? 0)
  return saved
}

/** The name of the checkpoint to go on from, or null where there is none yet. */
export function currentCheckpoint(folder: RunFolder): string | null {
  return readCurrent(folder)?.checkpoint ?? null
}

interface Current {
  checkpoint: string
  /** Without what depends on clocks, except in runs of earlier versions. */
  state: LoopState
  /** Undefined in runs of earlier versions. */
  sum?: string
}

function readCurrent(folder: RunFolder): Current | null {
  if (!folder.has(stateFile)) return null
  const text = folder.read(stateFile)
  const opened = readWithChecksum(text)
  const { checkpoint, state } = (opened?.fields ?? {}) as Partial<Current>
  if (opened === undefined || typeof checkpoint !== 'string') throw damaged(folder, text.slice(0, 80))
  if (state?.schema !== 1 || !phases.includes(state.phase)) throw damaged(folder, text.slice(0, 80))
  return { checkpoint, state, ...(opened.sum === undefined ? {} : { sum: opened.sum }) }
}

function withClocks(folder: RunFolder, { state, sum }: Current): LoopState {
  if (sum === undefined) return state
  const { stages, ...times } = readTimes(folder, sum) as unknown as Times
  return { ...state, ...times, stages: state.stages.map((stage, at) => ({ ...stage, ...stages[at] })) }
}

function damaged(folder: RunFolder, given: string): AgogeError {
  return damagedFile(folder.file(stateFile), {
    given,
    expected: 'the state of a run as this version writes it (schema 1)',
    hint: 'Begin a new run; the finished parts of this one are in its checkpoints folder',
  })
}
