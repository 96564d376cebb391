import { defined } from '../../defined.ts'
import { currentSplit } from '../episode/split.ts'
import type { CallCounts } from '../rollout/collect.ts'
import type { TaskSamplerState } from '../rollout/task-sampler.ts'
import { forgetChecked } from '../../runs/checksums.ts'
import type { RunFolder } from '../../runs/run-folder.ts'
import { currentCheckpoint, loadRun, saveRun } from '../../runs/run-store.ts'
import type { KindRecord } from './falling-kinds.ts'
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
  'unseen-paraphrase',
  'supervised',
  'supervised-test',
  'done',
] as const

export type Phase = (typeof phases)[number]

/** The loop's state besides the weights, as plain JSON. */
export interface LoopState extends TrainingPosition {
  schema: 1
  phase: Phase
  /** Wall-clock seconds of the whole job and of this phase, summed over all its processes. */
  seconds: number
  phaseSeconds: number
  rlSeconds: number
  supervisedSeconds: number
  warmStartSeconds: number
  sampler: TaskSamplerState | null
  /** The state of the algorithm; absent if it has none yet. */
  memory?: Record<string, number>
  /** Success by kind of task at the end of the warm start. */
  prior: Record<string, number>
  /** Names of the stored checkpoints. */
  warmStart: string | null
  rl: string | null
  stages: StageSummary[]
  unseenParaphrases: NonNullable<TrainingSummary['unseenParaphrases']> | null
  demonstrations: Record<string, number>
  /** Demonstrations that show that a server behaves differently than when its tasks were verified; absent if there are none. */
  dropped?: DroppedTasks
  unstableTools?: Record<string, CallCounts>
  /** Steps of RL, if a limit of time decided; absent otherwise, and before they were decided. */
  rlSteps?: number
  /** Groups that were trained on, and their episodes; absent if there are none yet. */
  signal?: Omit<ReinforcementRecord, 'steps'>
  /** The reasons of the masked episodes that `cost.masked` counts. */
  maskedReasons?: Record<string, number>
  cost: { sampledTokens: number; computedTokens?: number; calls: number; episodes: number; masked: number }
  /** Computed tokens and validations of this phase; absent if there are none yet. */
  spent?: { tokens: number; validations: number }
  /** Validations of this phase by kind of task; absent if there are none yet. */
  kindRecords?: Record<string, KindRecord>
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

/** Durations, which `times.json` stores. */
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
 * Writes a checkpoint: the weights, then the other state, and `state.json` last. Renaming `state.json` makes the checkpoint the
 * one to resume from. Unused checkpoints are removed.
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
  saveRun(folder, { checkpoint, state: steady, times, keep, isOver: state.phase === 'done' })
  for (const batch of folder.list('pending'))
    if (state.phase !== 'rl' || Number.parseInt(batch) < state.step) folder.remove(`pending/${batch}`)
  forgetChecked(folder, 'pending')
}

/** The file of a batch that has been sampled but not used. The first checkpoint after its use removes it. */
export const pendingFile = (batch: number): string => `pending/${batch}.json`

/**
 * Writes the weights and the optimiser to `checkpoints/NAME`. An existing checkpoint of that name stays until the new one is
 * complete.
 */
export async function saveWeights(folder: RunFolder, backend: TrainableBackend, name: string): Promise<void> {
  folder.makeFolder('checkpoints')
  await folder.withFileErrors(`checkpoints/${name}`, () => backend.save(folder.file('checkpoints', name)))
}

/**
 * The state to resume from, or null if there is no checkpoint yet. Truncates the growing files to their length at the
 * checkpoint.
 *
 * @throws AgogeError `bad-run-folder` if the state is missing or damaged.
 */
export async function loadState(
  folder: RunFolder,
): Promise<{ checkpoint: string; state: LoopState; damage?: string } | null> {
  const saved = await loadRun(folder, isLoopState)
  if (saved === null) return null
  // What was played after the damaged checkpoint does not belong to the one before it.
  if (saved.damage !== undefined)
    for (const name of ['journal', 'pending']) {
      folder.remove(name)
      forgetChecked(folder, name)
    }
  const state = { ...saved.state, phase: currentSplit(saved.state['phase']) } as unknown as LoopState
  return {
    checkpoint: saved.checkpoint,
    state: withClocks(state, saved.times as Times | undefined),
    ...defined({ damage: saved.damage ?? saved.warning }),
  }
}

const isLoopState = ({ schema, phase }: Readonly<Record<string, unknown>>): boolean =>
  schema === 1 && phases.includes(currentSplit(phase) as Phase)

function withClocks(state: LoopState, saved: Times | undefined): LoopState {
  // Runs of earlier versions store their durations in the state.
  if (saved === undefined) return state
  const { stages, seconds, phaseSeconds, rlSeconds, supervisedSeconds, warmStartSeconds } = saved
  const times = { seconds, phaseSeconds, rlSeconds, supervisedSeconds, warmStartSeconds }
  return { ...state, ...times, stages: state.stages.map((stage, at) => ({ ...stage, ...stages[at] })) }
}
