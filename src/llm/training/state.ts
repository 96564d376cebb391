import type { CallCounts } from '../rollout/collect.ts'
import type { TaskSamplerState } from '../rollout/task-sampler.ts'
import { forgetChecked } from '../../runs/checksums.ts'
import type { RunFolder } from '../../runs/run-folder.ts'
import { currentCheckpoint, loadRun, saveRun } from '../../runs/run-store.ts'
import type { TrainingPosition } from './kernel.ts'
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
export interface LoopState extends TrainingPosition {
  schema: 1
  phase: Phase
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
  }
}

/** What depends on clocks; it is kept in `times.json`. */
interface Times extends Pick<
  LoopState,
  'seconds' | 'phaseSeconds' | 'rlSeconds' | 'supervisedSeconds' | 'warmStartSeconds'
> {
  stages: Pick<StageSummary, 'seconds' | 'evaluationSeconds'>[]
}

function splitClocks(state: LoopState): { steady: object; times: Times } {
  const { seconds, phaseSeconds, rlSeconds, supervisedSeconds, warmStartSeconds, ...rest } = state
  const split = rest.stages.map(({ seconds, evaluationSeconds, ...stage }) => ({
    stage,
    times: { seconds, evaluationSeconds },
  }))
  const stages = split.map(({ times }) => times)
  return {
    steady: { ...rest, stages: split.map(({ stage }) => stage) },
    times: { seconds, phaseSeconds, rlSeconds, supervisedSeconds, warmStartSeconds, stages },
  }
}

/**
 * Writes a checkpoint: the weights first, the state after them, last of all `state.json`, whose rename makes the
 * checkpoint the one to resume from. Checkpoints that nothing refers to any more are removed.
 */
export async function saveCheckpoint(
  folder: RunFolder,
  backend: TrainableBackend,
  state: LoopState,
): Promise<void> {
  const checkpoint = `${state.phase}-${state.step}`
  if (currentCheckpoint(folder) !== checkpoint) await saveWeights(folder, backend, checkpoint)
  const { steady, times } = splitClocks(state)
  const keep = [state.best?.checkpoint, state.warmStart, state.rl].filter((name) => typeof name === 'string')
  saveRun(folder, { checkpoint, state: steady, times, keep })
  for (const batch of folder.list('pending'))
    if (state.phase !== 'rl' || Number.parseInt(batch) < state.step) folder.remove(`pending/${batch}`)
  forgetChecked(folder, 'pending')
}

/** The file of a batch that was sampled and not yet learnt from; it is removed with the first checkpoint after that. */
export const pendingFile = (batch: number): string => `pending/${batch}.json`

/** Writes the weights and the optimiser under `checkpoints/NAME`; one of that name is there until the new one is whole. */
export async function saveWeights(folder: RunFolder, backend: TrainableBackend, name: string): Promise<void> {
  folder.makeFolder('checkpoints')
  await folder.withFileErrors(`checkpoints/${name}`, () => backend.save(folder.file('checkpoints', name)))
}

/**
 * The state to resume from, or null where nothing was finished yet; cuts the growing files back to it.
 *
 * @throws AgogeError `bad-run-folder` where the state is gone or not what was written.
 */
export function loadState(folder: RunFolder): { checkpoint: string; state: LoopState } | null {
  const saved = loadRun(folder, isLoopState)
  if (saved === null) return null
  const state = saved.state as unknown as LoopState
  return { checkpoint: saved.checkpoint, state: withClocks(state, saved.times as Times | undefined) }
}

const isLoopState = ({ schema, phase }: Readonly<Record<string, unknown>>): boolean =>
  schema === 1 && phases.includes(phase as Phase)

function withClocks(state: LoopState, saved: Times | undefined): LoopState {
  // Runs of earlier versions have their durations in the state.
  if (saved === undefined) return state
  const { stages, seconds, phaseSeconds, rlSeconds, supervisedSeconds, warmStartSeconds } = saved
  const times = { seconds, phaseSeconds, rlSeconds, supervisedSeconds, warmStartSeconds }
  return { ...state, ...times, stages: state.stages.map((stage, at) => ({ ...stage, ...stages[at] })) }
}
