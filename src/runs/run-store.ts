import { defined } from '../defined.ts'
import { AgogeError } from '../error.ts'
import {
  damagedFile,
  forgetChecked,
  hasChecked,
  readChecked,
  readTimes,
  readWithChecksum,
  saveTimes,
  sha256,
  weightsGone,
  withChecksum,
  writeChecked,
} from './checksums.ts'
import { refuseEarlierVersion } from './convert.ts'
import { flush } from './files.ts'
import { lockRun } from './lock.ts'
import { refuseExistingRun } from './run-folder.ts'
import type { RunFolder } from './run-folder.ts'

/** The checkpoint to resume a run from. */
export interface SavedRun {
  /** Name of its folder under `checkpoints/`, which holds the weights. */
  checkpoint: string
  /** State of the training, as plain JSON. Two runs with equal results have the same bytes. */
  state: Record<string, unknown>
  /** Durations. Undefined in runs of earlier versions, whose `state` contains them. */
  times: Record<string, unknown> | undefined
}

/** Files that grow with every step. A checkpoint stores their lengths. A resumed run truncates them to these lengths. */
const growingFiles = ['metrics.jsonl', 'episodes.jsonl'] as const

const stateFile = 'state.json'
const configFile = 'config.json'

/**
 * Locks a run folder for this process. A new run writes its settings to `config.json`. A resumed run compares its settings with
 * that file.
 *
 * @param config the settings that determine the result of the run, as plain JSON. A resumed run must have the same.
 * @param options.notes other fields of `config.json`, such as the command. They may differ when the run is resumed.
 * @returns a function that unlocks the folder.
 * @throws AgogeError `run-exists` if the run is new but the folder holds one; `no-run` if there is no run to resume;
 *   `resume-mismatch` if the settings differ; `other-base` if the base model (the field `base`) differs; `run-in-use` if another
 *   process writes to the folder.
 */
export function claimRun(
  folder: RunFolder,
  config: Readonly<Record<string, unknown>>,
  { resume, notes = {} }: { resume: boolean; notes?: Readonly<Record<string, unknown>> },
): () => void {
  const release = lockRun(folder)
  try {
    if (resume) requireSameRun(folder, config)
    else {
      refuseExistingRun(folder.path, 'the option resume: true')
      writeChecked(folder, configFile, jsonText({ ...config, ...notes }))
    }
    return release
  } catch (error) {
    release()
    throw error
  }
}

const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** Throws unless every field of `config` equals the stored one. Fields that only the folder has are notes and do not count. */
function requireSameRun(folder: RunFolder, config: Readonly<Record<string, unknown>>): void {
  const stored = readConfig(folder)
  const recorded = recordedBase(folder)
  const { base } = config
  if (base !== undefined && recorded !== undefined && recorded !== base)
    throw otherBase(folder, base, recorded)
  // Runs of earlier versions do not record their base model.
  const fields = Object.keys(config).filter((field) => field !== 'base' || recorded !== undefined)
  const now = jsonText(Object.fromEntries(fields.map((field) => [field, config[field]])))
  const before = jsonText(Object.fromEntries(fields.map((field) => [field, stored[field]])))
  if (before === now) return
  throw new AgogeError(`The run in ${folder.path} was started with other settings`, {
    code: 'resume-mismatch',
    given: firstDifference(before, now),
    expected:
      'the same settings as in its config.json, so that the result is the same as without the interruption',
    hint: 'Give the same options as before, or begin a new run',
  })
}

/**
 * Reads the settings of a run from `config.json`.
 *
 * @throws AgogeError `no-run` if there is no run, `bad-run-folder` if `config.json` is damaged, `earlier-version` for version 0.1.
 */
export function readConfig(folder: RunFolder): Record<string, unknown> {
  if (!hasChecked(folder, configFile)) throw noRun(folder.path)
  const text = readChecked(folder, configFile)
  let config: Record<string, unknown>
  try {
    config = JSON.parse(text) as Record<string, unknown>
  } catch (cause) {
    throw damagedFile(folder.file(configFile), { given: text.slice(0, 80), expected: 'JSON', cause })
  }
  refuseEarlierVersion(folder.path, config)
  return config
}

/** Makes the error for a missing run. `path` is where it was searched: one folder, or several as text. */
export const noRun = (path: string): AgogeError =>
  new AgogeError(`There is no run to resume in ${path}`, {
    code: 'no-run',
    given: path,
    expected: 'the folder of an earlier run, with its config.json',
  })

/** The hash of the base model of the run in a folder; undefined if it is not recorded. */
export function recordedBase(folder: RunFolder): string | undefined {
  if (!folder.has('config.json')) return undefined
  const { base } = JSON.parse(folder.read('config.json')) as Record<string, unknown>
  return typeof base === 'string' ? base : undefined
}

function otherBase(folder: RunFolder, given: unknown, expected: string): AgogeError {
  return new AgogeError(`The run in ${folder.path} belongs to another base model`, {
    code: 'other-base',
    given: `weights ${String(given).slice(0, 16)}`,
    expected: `weights ${expected.slice(0, 16)}`,
    hint: 'Resume it with its original model, or start a new run',
  })
}

function firstDifference(before: string, now: string): string {
  const lines = now.split('\n')
  const at = before.split('\n').findIndex((line, index) => line !== lines[index])
  return `${before.split('\n')[at]?.trim()} (before), ${lines[at]?.trim()} (now)`
}

/**
 * Makes a checkpoint the one to resume from. Its folder `checkpoints/NAME` must already be complete. Replaces `state.json`
 * atomically. Then removes all other checkpoints, except `final` and those in `keep`.
 */
export function saveRun(
  folder: RunFolder,
  {
    checkpoint,
    state,
    times,
    keep = [],
  }: { checkpoint: string; state: object; times: object; keep?: readonly string[] },
): void {
  const previous = readCurrent(folder)
  const current = { checkpoint, state }
  const offsets = Object.fromEntries(growingFiles.map((file) => [file, folder.size(file)]))
  // After a power cut the state must not name lines that did not reach the disk.
  for (const file of growingFiles) if (folder.has(file)) flush(folder.file(file))
  saveTimes(folder, previous?.checksum, sha256(JSON.stringify(current)), { ...times, offsets })
  folder.write(stateFile, withChecksum(current, 1))
  const kept = new Set([checkpoint, 'final', ...keep])
  for (const other of folder.list('checkpoints')) if (!kept.has(other)) folder.remove(`checkpoints/${other}`)
  forgetChecked(folder, 'checkpoints')
}

/**
 * Returns the checkpoint to resume from, or null if there is none yet. Truncates the growing files to their lengths at that
 * checkpoint.
 *
 * @param isState returns whether the state has the format that the caller writes.
 * @throws AgogeError `bad-run-folder` if the state is missing or damaged.
 */
export function loadRun(
  folder: RunFolder,
  isState: (state: Readonly<Record<string, unknown>>) => boolean,
): SavedRun | null {
  const current = readCurrent(folder)
  // A process may stop after it wrote its first checkpoint and before it wrote the state. With more than one checkpoint,
  // the state was lost.
  if (current === null && (folder.has('summary.json') || folder.list('checkpoints').length > 1))
    throw damagedState(folder, 'no such file')
  if (current !== null && !isState(current.state))
    throw damagedState(folder, folder.read(stateFile).slice(0, 80))
  const times = current?.checksum === undefined ? undefined : readTimes(folder, current.checksum)
  const offsets = (times ?? current?.state)?.['offsets'] as Record<string, number> | undefined
  for (const file of growingFiles) folder.truncate(file, offsets?.[file] ?? 0)
  return current === null ? null : { checkpoint: current.checkpoint, state: current.state, times }
}

/** The name of the checkpoint to resume from, or null if there is none yet. */
export function currentCheckpoint(folder: RunFolder): string | null {
  return readCurrent(folder)?.checkpoint ?? null
}

/** Returns the folder of the final weights. @throws AgogeError `no-model` if a finished run lacks them. */
export function requireFinal(folder: RunFolder): string {
  if (folder.list('checkpoints/final').length === 0) throw weightsGone(folder.path)
  return folder.file('checkpoints', 'final')
}

function readCurrent(
  folder: RunFolder,
): { checkpoint: string; state: Record<string, unknown>; checksum?: string } | null {
  if (!folder.has(stateFile)) return null
  const text = folder.read(stateFile)
  const opened = readWithChecksum(text)
  const { checkpoint, state } = (opened?.fields ?? {}) as { checkpoint?: unknown; state?: unknown }
  if (opened === undefined || typeof checkpoint !== 'string' || typeof state !== 'object' || state === null)
    throw damagedState(folder, text.slice(0, 80))
  return {
    checkpoint,
    state: state as Record<string, unknown>,
    ...defined({ checksum: opened.sum }),
  }
}

function damagedState(folder: RunFolder, given: string): AgogeError {
  return damagedFile(folder.file(stateFile), {
    given,
    expected: 'the state of a run as this version writes it (schema 1)',
    hint: 'Begin a new run; the finished parts of this one are in its checkpoints folder',
  })
}
