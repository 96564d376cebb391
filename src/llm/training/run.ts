import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AgogeError } from '../../error.ts'
import { requireChecked, sha256, writeChecked } from '../../runs/checksums.ts'
import { metricsFile, readMetrics } from '../../runs/metrics.ts'
import {
  machine,
  type MetricsRecord,
  type OnTrainingEvent,
  openRunFolder,
  type RunFolder,
} from '../../runs/run-folder.ts'
import { claimRun, currentCheckpoint, loadRun, requireFinal, saveRun } from '../../runs/run-store.ts'
import { decodeState, encodeState } from '../../runs/state-bytes.ts'
import { parseOwnJson } from '../../untrusted/own-json.ts'
import { baseOf } from '../backend/base-model.ts'
import { runPart } from './kernel.ts'
import type { TrainedModel, TrainingPart, TrainingPosition, TrainingRun, Validation } from './kernel.ts'
import { renderRun } from './report/render-report.ts'

/** Where a trainer stores its run, and who receives its events. */
export interface RunOptions {
  /** The run folder: settings, metrics, checkpoints, report. Default: none, the run stays in memory. */
  out?: string
  /**
   * Continues the run in `out` from its last checkpoint. With the same models and settings, the final weights are bit-identical
   * to those of an uninterrupted run. Default: false.
   */
  resume?: boolean
  /** Steps between checkpoints. Default: 10. */
  checkpointEvery?: number
  /** How the run was started, for the record. */
  command?: string
  onEvent?: OnTrainingEvent
  /** Stops at the next safe moment, saves, and rejects with the signal's reason. */
  signal?: AbortSignal
}

/** The result of a run. */
export interface TrainedRun {
  /** One record per step and per validation, including those before a resumption. */
  records: MetricsRecord[]
  /** The validation whose weights were selected; null if the last weights were. */
  best: { step: number; score: number } | null
}

/** `summary.json` of a run of a single trainer. */
export interface RunSummary {
  schema: 1
  trainer: string
  command: string
  machine: ReturnType<typeof machine>
  seconds: number
  steps: number
  /** Which weights the run ended with, and the rule that selected them. */
  kept: { rule: string; step: number; score?: number }
  model: string
}

/** Selects a trainer's final weights. */
export interface ValidationOptions {
  /**
   * Runs before the first step, after every `every` steps, and after the last step. The run ends with the weights of the highest
   * score. Default: no validation, the last weights.
   */
  validation?: {
    /** Scores the present model on data that it is not trained on. Higher is better. */
    score: () => Promise<number> | number
    /** Steps. Default: only before the first step and after the last. */
    every?: number
    /** Name of the score in the record. Default: `score`. */
    measure?: string
  }
}

/** The validation that a trainer's options request. */
export function validationOf({ validation }: ValidationOptions): Validation | undefined {
  if (validation === undefined) return undefined
  const { score, every = Infinity, measure = 'score' } = validation
  return {
    measure,
    isDue: (step, over) => over || step % every === 0,
    score: async () => ({ score: await score() }),
    keep: 'best',
  }
}

/** What `runTraining` takes besides the training part. */
export interface RunTrainingOptions extends RunOptions {
  /** All models that the part trains, by name. The checkpoint folder holds a single model directly and several in subfolders. */
  models: Readonly<Record<string, TrainedModel>>
  /** Values that two equal runs share, as plain JSON for `config.json`. See `settingsOf`. */
  settings: Readonly<Record<string, unknown>>
}

/**
 * Runs a trainer in memory or in a run folder. A run folder gets `config.json`, `metrics.jsonl`, checkpoints, `summary.json` and
 * `report.html`. The models end with the weights that the part's validation selects, or the last ones.
 *
 * @throws AgogeError as `claimRun` and `runPart` do.
 */
export async function runTraining<Batch>(
  part: TrainingPart<Batch>,
  options: RunTrainingOptions,
): Promise<TrainedRun> {
  options.signal?.throwIfAborted()
  if (options.out === undefined) return runInMemory(part, options)
  const folder = openRunFolder({ path: options.out })
  const base = baseOf(folder, Object.values(options.models))
  const config = configOf(part.name, { ...base, ...options.settings })
  const release = claimRun(folder, config, { resume: options.resume === true })
  try {
    return await runInFolder(part, folder, { ...options, config })
  } finally {
    release()
  }
}

const start = (): TrainingPosition => ({ step: 0, validated: -1, best: null })

async function runInMemory<Batch>(
  part: TrainingPart<Batch>,
  options: RunTrainingOptions,
): Promise<TrainedRun> {
  if (options.resume === true)
    throw new AgogeError('There is nothing to resume', {
      code: 'no-run',
      given: 'resume without a run folder',
      expected: '`out`: the folder of an earlier run',
    })
  const { models, onEvent = () => {} } = options
  const state = start()
  const records: MetricsRecord[] = []
  // In memory, only the best weights are stored, until the run ends.
  let folder: string | undefined
  const best = (): string => join((folder ??= mkdtempSync(join(tmpdir(), 'agoge-run-'))), 'best')
  try {
    await runPart(part, {
      state,
      checkpointEvery: Infinity,
      signal: options.signal,
      weightsMatchState: true,
      emit: onEvent,
      record: recorder(state, records, onEvent),
      checkpoint: () => Promise.resolve(),
      saveWeights: () => saveModels(models, best()),
      loadWeights: () => loadModels(models, best()),
      clearCaches: () => clearCaches(models),
      lastWeights: () => null,
    })
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  }
  return { records, best: bestOf(part, state) }
}

async function runInFolder<Batch>(
  part: TrainingPart<Batch>,
  folder: RunFolder,
  options: RunTrainingOptions & { config: Readonly<Record<string, unknown>> },
): Promise<TrainedRun> {
  const { models, onEvent = () => {}, signal, checkpointEvery = 10 } = options
  const saved = await loadRun(folder, isPosition)
  const state = (saved?.state ?? { schema: 1, phase: part.name, ...start() }) as unknown as SavedPosition
  const records = readMetrics(folder, onEvent)
  const result = (): TrainedRun => ({ records, best: bestOf(part, state) })
  if (state.phase === 'done') {
    await loadModels(models, requireFinal(folder))
    return result()
  }
  if (saved !== null) {
    await loadModels(models, folder.file('checkpoints', saved.checkpoint))
    part.importState?.(readPartState(folder, saved.checkpoint))
    onEvent({
      type: 'note',
      text: saved.damage ?? saved.warning ?? `resuming ${folder.path} at ${saved.checkpoint}`,
    })
  }
  const before = Number(saved?.times?.['seconds'] ?? 0)
  const began = performance.now()
  const seconds = (): number => before + (performance.now() - began) / 1000
  const save = (checkpoint: string): void => {
    const keep = state.best === null ? [] : [state.best.checkpoint]
    saveRun(folder, {
      checkpoint,
      state,
      times: { seconds: seconds() },
      keep,
      isOver: state.phase === 'done',
    })
  }
  const note = recorder(state, records, onEvent)
  const run: TrainingRun = {
    state,
    checkpointEvery,
    signal,
    weightsMatchState: true,
    emit: onEvent,
    record(phase, ...rest) {
      note(phase, ...rest)
      folder.append(metricsFile, [JSON.stringify(records.at(-1))])
    },
    async checkpoint() {
      const name = `${part.name}-${state.step}`
      if (currentCheckpoint(folder) !== name) await run.saveWeights(name)
      if (part.exportState !== undefined)
        writeChecked(folder, partFile(name), encodeState(part.exportState()))
      save(name)
    },
    async saveWeights(name) {
      folder.makeFolder('checkpoints')
      await folder.withFileErrors(`checkpoints/${name}`, () =>
        saveModels(models, folder.file('checkpoints', name)),
      )
    },
    loadWeights: (name) => loadModels(models, folder.file('checkpoints', name)),
    clearCaches: () => clearCaches(models),
    lastWeights() {
      const name = currentCheckpoint(folder)
      return name === null ? null : folder.file('checkpoints', name)
    },
  }
  try {
    // A validation may save weights before the first checkpoint is due; they need a state to belong to.
    if (saved === null) await run.checkpoint()
    await runPart(part, run)
  } catch (error) {
    const damaged = AgogeError.isInstance(error) && error.code === 'bad-run-folder'
    // Save first, but the caller must get the reason for stopping even if saving fails.
    if (run.weightsMatchState && state.step > 0 && !damaged) await run.checkpoint().catch(() => {})
    throw signal?.aborted === true ? signal.reason : error
  }
  await run.saveWeights('final')
  const summary = summarise(part, state, { command: options.command, folder, seconds: seconds() })
  writeChecked(folder, 'summary.json', `${JSON.stringify(summary, null, 2)}\n`)
  folder.write('report.html', renderRun({ summary, records, config: options.config }))
  // Last: the run counts as done only when all its output exists.
  state.phase = 'done'
  save('final')
  return result()
}

/** Turns a checkpoint of another format into the start of a run, which can then be resumed like any other. */
export function adoptRun(
  out: string,
  earlier: {
    trainer: string
    models: readonly TrainedModel[]
    settings: Readonly<Record<string, unknown>>
    step: number
    partState: unknown
    writeWeights: (path: string) => void
  },
): void {
  const { trainer, models, settings, step, partState, writeWeights } = earlier
  const folder = openRunFolder({ path: out })
  const release = claimRun(folder, configOf(trainer, { ...baseOf(folder, models), ...settings }), {
    resume: false,
  })
  try {
    const checkpoint = `${trainer}-${step}`
    folder.makeFolder('checkpoints')
    writeWeights(folder.file('checkpoints', checkpoint))
    writeChecked(folder, partFile(checkpoint), encodeState(partState))
    const state: SavedPosition = { schema: 1, phase: trainer, ...start(), step }
    saveRun(folder, { checkpoint, state, times: { seconds: 0 } })
  } finally {
    release()
  }
}

const configOf = (trainer: string, settings: object): Record<string, unknown> =>
  parseOwnJson(JSON.stringify({ schema: 1, trainer, ...settings })) as Record<string, unknown>

interface SavedPosition extends TrainingPosition {
  schema: 1
  /** The part's name, or `done`. */
  phase: string
}

const isPosition = (state: Readonly<Record<string, unknown>>): boolean =>
  state['schema'] === 1 && typeof state['phase'] === 'string' && typeof state['step'] === 'number'

const partFile = (checkpoint: string): string => `checkpoints/${checkpoint}/part.bin`

function readPartState(folder: RunFolder, checkpoint: string): unknown {
  requireChecked(folder.path, partFile(checkpoint))
  return folder.has(partFile(checkpoint)) ? decodeState(folder.readBytes(partFile(checkpoint))) : undefined
}

function recorder(
  state: TrainingPosition,
  records: MetricsRecord[],
  emit: OnTrainingEvent,
): TrainingRun['record'] {
  return (phase, seconds, total, metrics) => {
    const { step } = state
    records.push({ phase, step, seconds, metrics })
    emit({ type: 'step', phase, step, total, seconds, metrics })
  }
}

function bestOf<Batch>(part: TrainingPart<Batch>, { best }: TrainingPosition): TrainedRun['best'] {
  return best === null || part.validation?.keep !== 'best' ? null : { step: best.step, score: best.score }
}

function summarise<Batch>(
  part: TrainingPart<Batch>,
  state: TrainingPosition,
  { command, folder, seconds }: { command: string | undefined; folder: RunFolder; seconds: number },
): RunSummary {
  const best = bestOf(part, state)
  return {
    schema: 1,
    trainer: part.name,
    command: command ?? part.name,
    machine: machine(),
    seconds,
    steps: state.step,
    kept:
      best === null
        ? { rule: 'the last step', step: state.step }
        : { rule: `highest ${part.validation?.measure} in validation, the latest of equals`, ...best },
    model: folder.file('checkpoints', 'final'),
  }
}

async function saveModels(models: RunTrainingOptions['models'], folder: string): Promise<void> {
  for (const [path, model] of placed(models, folder)) await model.save(path)
}

async function loadModels(models: RunTrainingOptions['models'], folder: string): Promise<void> {
  for (const [path, model] of placed(models, folder)) await model.load(path)
}

function placed(models: RunTrainingOptions['models'], folder: string): [string, TrainedModel][] {
  const all = Object.entries(models)
  return all.map(([name, model]) => [all.length === 1 ? folder : join(folder, name), model])
}

function clearCaches(models: RunTrainingOptions['models']): void {
  for (const model of Object.values(models)) model.clearCache?.()
}

/** The curve of a trainer from its records: the metrics of each step, with steps counted from 1. */
export function stepsOf<Step extends { step: number }>(
  records: readonly MetricsRecord[],
  phase: string,
): Step[] {
  return records
    .filter((record) => record.phase === phase)
    .map(({ step, metrics }) => ({ gradientNorm: undefined, ...metrics, step }) as unknown as Step)
}

/**
 * The trainer options that belong in `config.json`: numbers, strings, booleans and plain objects of these. Leaves out functions,
 * models and options about the run itself.
 */
export function settingsOf(options: object): Record<string, unknown> {
  const own = new Set(['out', 'resume', 'checkpointEvery', 'command', 'signal', 'validation'])
  const plain = (value: unknown): unknown => {
    if (value === null || ['number', 'string', 'boolean'].includes(typeof value)) return value
    if (typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return undefined
    const entries = Object.entries(value)
    if (entries.some(([, each]) => typeof each === 'function')) return undefined
    return Object.fromEntries(entries.map(([key, each]) => [key, plain(each)]))
  }
  return Object.fromEntries(
    Object.entries(options).flatMap(([key, value]) => {
      const kept = own.has(key) ? undefined : plain(value)
      return kept === undefined ? [] : [[key, kept]]
    }),
  )
}

/** A short hash of a run's training data, for `config.json`. Other data make another run. */
export const hashOf = (data: unknown): string => sha256(encodeState(data)).slice(0, 16)
