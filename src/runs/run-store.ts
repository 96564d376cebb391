import { defined } from '../defined.ts'
import { AgogeError } from '../error.ts'
import { parseForeignJson } from '../untrusted/foreign-json.ts'
import {
  checksumsFile,
  damagedFile,
  forgetChecked,
  hasChecked,
  readChecked,
  readTimes,
  readWithChecksum,
  requireCheckedWithin,
  saveTimes,
  sha256,
  verifyChecksums,
  weightsGone,
  withChecksum,
  writeChecked,
  startOf,
} from './checksums.ts'
import { refuseEarlierVersion } from './convert.ts'
import { flush, removeUnfinished } from './files.ts'
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
  /** Says what is damaged of the newest checkpoint, if this is the one before it. */
  damage?: string
  /** Says what is damaged of a checkpoint that is kept beside this one. */
  warning?: string
}

/** Files that grow with every step. A checkpoint stores their lengths. A resumed run truncates them to these lengths. */
const growingFiles = ['metrics.jsonl', 'episodes.jsonl'] as const

const stateFile = 'state.json'
/** The state of the checkpoint before the newest, to resume from if the newest is damaged. */
const previousFile = 'state-before.json'
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
    if (resume) {
      requireSameRun(folder, config)
      removeUnfinished(folder.path)
    } else {
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
  const config = readChecked(folder, configFile, (text) => parseConfig(folder, text))
  refuseEarlierVersion(folder.path, config)
  return config
}

function parseConfig(folder: RunFolder, text: string): Record<string, unknown> {
  const damaged = (cause?: unknown): AgogeError =>
    damagedFile(folder.file(configFile), { given: text.slice(0, 80), expected: 'a JSON object', cause })
  let config: unknown
  try {
    config = parseForeignJson(text)
  } catch (cause) {
    throw damaged(cause)
  }
  if (typeof config !== 'object' || config === null || Array.isArray(config)) throw damaged()
  return config as Record<string, unknown>
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
  if (!folder.has(configFile)) return undefined
  const { base } = folder.read(configFile, (text) => parseConfig(folder, text))
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
 * atomically. Then removes all other checkpoints, except `final`, those in `keep`, and until the run is over the one before with those that it kept.
 *
 * @param options.isOver whether nothing is left to resume. Default: false.
 */
export function saveRun(
  folder: RunFolder,
  {
    checkpoint,
    state,
    times,
    keep = [],
    isOver = false,
  }: { checkpoint: string; state: object; times: object; keep?: readonly string[]; isOver?: boolean },
): void {
  const previous = readCurrent(folder)
  const current = { checkpoint, keep, state }
  const offsets = Object.fromEntries(growingFiles.map((file) => [file, folder.size(file)]))
  // After a power cut the state must not name lines that did not reach the disk.
  for (const file of growingFiles) if (folder.has(file)) flush(folder.file(file))
  // Until the new state is written, the run may be resumed from the checkpoint before the present one.
  const earlier = [readPrevious(folder), previous].flatMap((some) => some?.checksum ?? [])
  saveTimes(folder, earlier, sha256(JSON.stringify(current)), { ...times, offsets })
  const before = isOver ? null : previousOf(folder, previous, checkpoint)
  if (before === null) folder.remove(previousFile)
  else folder.write(previousFile, before.content)
  folder.write(stateFile, withChecksum(current, 1))
  removeOthers(folder, [checkpoint, ...keep, ...(before?.names ?? [])])
  forgetChecked(folder, 'checkpoints')
}

/** Removes the checkpoints that are not named, except `final`. */
function removeOthers(folder: RunFolder, names: readonly string[]): void {
  for (const other of folder.list('checkpoints'))
    if (other !== 'final' && !names.includes(other)) folder.remove(`checkpoints/${other}`)
}

/** What is kept of the checkpoint before `checkpoint`; null if there is none. */
function previousOf(
  folder: RunFolder,
  current: Current | null,
  checkpoint: string,
): { content: Uint8Array; names: readonly string[] } | null {
  // The state of a checkpoint may be written twice, at the end of a phase for instance.
  if (current === null || current.checkpoint === checkpoint) {
    const earlier = readPrevious(folder)
    if (earlier === null) return null
    return { content: folder.readBytes(previousFile), names: [earlier.checkpoint, ...earlier.keep] }
  }
  return { content: folder.readBytes(stateFile), names: [current.checkpoint, ...current.keep] }
}

/**
 * Returns the checkpoint to resume from, or null if there is none yet. It is the one before the newest if a file of the newest is damaged. Truncates
 * the growing files to their lengths at that checkpoint.
 *
 * @param isState returns whether the state has the format that the caller writes.
 * @throws AgogeError `bad-run-folder` or `bad-checkpoint` if the newest checkpoint is damaged and there is no intact one before it.
 */
export async function loadRun(
  folder: RunFolder,
  isState: (state: Readonly<Record<string, unknown>>) => boolean,
): Promise<SavedRun | null> {
  try {
    return await loadChecked(folder, stateFile, isState)
  } catch (error) {
    if (!AgogeError.isInstance(error) || !['bad-run-folder', 'bad-checkpoint'].includes(error.code))
      throw error
    const before = folder.has(previousFile)
      ? await loadChecked(folder, previousFile, isState).catch(() => null)
      : null
    if (before === null) throw error
    folder.write(stateFile, folder.readBytes(previousFile))
    return {
      ...before,
      damage: `${error.message}: going on from the checkpoint before it, ${before.checkpoint}`,
    }
  }
}

async function loadChecked(
  folder: RunFolder,
  file: string,
  isState: (state: Readonly<Record<string, unknown>>) => boolean,
): Promise<SavedRun | null> {
  const current = readCurrent(folder, file)
  // A process may stop after it wrote its first checkpoint and before it wrote the state. With more than one checkpoint,
  // the state was lost.
  if (current === null && (folder.has('summary.json') || folder.list('checkpoints').length > 1))
    throw damagedState(folder, 'no such file')
  if (current !== null && !isState(current.state)) throw damagedState(folder, folder.read(file, startOf))
  const times = current?.checksum === undefined ? undefined : readTimes(folder, current.checksum)
  if (current !== null) await verifyCheckpoint(folder, current.checkpoint)
  const offsets = (times ?? current?.state)?.['offsets'] as Record<string, number> | undefined
  const lengths = growingFiles.map((name) => offsets?.[name] ?? 0)
  if (!lengths.every((length) => Number.isSafeInteger(length) && length >= 0))
    throw damagedFile(folder.file('times.json'), { given: offsets, expected: 'lengths of files, in bytes' })
  for (const [at, name] of growingFiles.entries()) folder.truncate(name, lengths[at])
  // A process that was killed after it wrote the state left those that the state does not name.
  if (current !== null && file === stateFile) {
    const before = readPrevious(folder)
    const earlier = before === null ? [] : [before.checkpoint, ...before.keep]
    removeOthers(folder, [current.checkpoint, ...current.keep, ...earlier])
  }
  if (current === null) return null
  const warning = await damagedKept(folder, current)
  return { checkpoint: current.checkpoint, state: current.state, times, ...defined({ warning }) }
}

/** What is said of a damaged checkpoint that is kept beside the newest, such as the best one. */
async function damagedKept(folder: RunFolder, { checkpoint, keep }: Current): Promise<string | undefined> {
  const hasSums = (name: string): boolean => folder.has(`checkpoints/${name}/${checksumsFile}`)
  for (const name of keep.filter((other) => other !== checkpoint))
    try {
      if (!folder.isFolder(`checkpoints/${name}`))
        throw damagedFile(folder.file('checkpoints', name), {
          given: 'no such folder',
          expected: 'a checkpoint',
        })
      // Without its list nothing tells whether it is whole.
      if (hasSums(checkpoint) && !hasSums(name))
        throw damagedFile(folder.file('checkpoints', name, checksumsFile), {
          given: 'no such file',
          expected: 'the checksums of the checkpoint',
        })
      await verifyCheckpoint(folder, name)
    } catch (error) {
      if (!AgogeError.isInstance(error)) throw error
      return `the checkpoint ${name}, which is kept beside the newest, is damaged (${error.message}): going on from ${checkpoint}`
    }
  return undefined
}

/** Compares the files of a checkpoint with the checksums in its folder and its subfolders, and with those of the run. */
async function verifyCheckpoint(folder: RunFolder, checkpoint: string): Promise<void> {
  const within = `checkpoints/${checkpoint}`
  if (!folder.isFolder(within)) {
    // Where nothing stands before it, the caller says what is missing.
    if (!folder.has(previousFile)) return
    throw damagedFile(folder.file(within), { given: 'no such folder', expected: 'the newest checkpoint' })
  }
  requireCheckedWithin(folder.path, within)
  await verifyChecksums(folder.file(within))
  for (const inner of folder.list(within))
    if (folder.isFolder(`${within}/${inner}`)) await verifyChecksums(folder.file(within, inner))
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

/** Null too if it is damaged: then nothing can be resumed from it. */
function readPrevious(folder: RunFolder): Current | null {
  try {
    return readCurrent(folder, previousFile)
  } catch (error) {
    if (AgogeError.isInstance(error) && error.code === 'bad-run-folder') return null
    throw error
  }
}

interface Current {
  checkpoint: string
  keep: readonly string[]
  state: Record<string, unknown>
  checksum?: string
}

/** The name of a checkpoint. One that leads out of the run's folder is none. */
function isName(name: unknown): name is string {
  return typeof name === 'string' && /^[^/\\]+$/.test(name) && !/^\.+$/.test(name)
}

function readCurrent(folder: RunFolder, file = stateFile): Current | null {
  if (!folder.has(file)) return null
  const opened = folder.read(file, readWithChecksum)
  const {
    checkpoint,
    keep = [],
    state,
  } = (opened?.fields ?? {}) as {
    checkpoint?: unknown
    /** Absent in runs of earlier versions. */
    keep?: unknown
    state?: unknown
  }
  const isWhole = isName(checkpoint) && Array.isArray(keep) && keep.every(isName)
  if (opened === undefined || !isWhole || typeof state !== 'object' || state === null)
    throw damagedState(folder, folder.read(file, startOf))
  return {
    checkpoint,
    keep,
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
