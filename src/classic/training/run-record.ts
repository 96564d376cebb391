import { deserialize, serialize } from 'node:v8'
import { AgogeError } from '../../error.ts'
import {
  damagedFile,
  hasChecked,
  readChecked,
  readTimes,
  saveTimes,
  sha256,
  weightsGone,
  writeChecked,
} from '../../runs/checksums.ts'
import { refuseEarlierVersion } from '../../runs/convert.ts'
import { lockRun } from '../../runs/lock.ts'
import { openRunFolder, refuseLocked, type RunFolder } from '../../runs/run-folder.ts'
import { decodeState, encodeState } from '../../runs/state-bytes.ts'
import type { ClassicAgent } from '../algorithm/agent.ts'

const configFile = 'config.json'
const checkpointFile = 'checkpoints/last.bin'
export const metricsFile = 'metrics.jsonl'

/** What makes two runs the same; plain JSON. */
type RunIdentity = Readonly<Record<string, unknown>>

/** The run folder of a classic run: what it is (`config.json`), metrics, one checkpoint. */
export interface RunRecord {
  readonly folder: RunFolder
  /** The last checkpoint and its times; null where none was written yet. Metrics written after it are cut off. */
  load(): { state: unknown; times: Record<string, unknown> } | null
  /** `times`: what depends on clocks; the bytes of the checkpoint do not. */
  save(state: unknown, times: object): void
  /** Lets other processes write to the run. */
  readonly release: () => void
}

interface Checkpoint {
  schema: 1
  identity: RunIdentity
  state: unknown
  /** In runs of earlier versions, which have their times in `state`. */
  metricsBytes?: number
}

/** What a checkpoint file holds: a checkpoint and its checksum. */
interface Checked {
  schema: 2
  sha256: string
  checkpoint: Uint8Array
}

/**
 * Opens the folder for a new run, or for one to go on with, and keeps other processes out until `release` is called.
 *
 * @throws AgogeError where it holds another run, or none to go on with, or another process is writing to it.
 */
export function openRunRecord(
  path: string,
  identity: RunIdentity,
  { resume, command }: { resume: boolean; command: string },
): RunRecord {
  const folder = openRunFolder({ path })
  const release = lockRun(folder)
  try {
    const known = JSON.parse(JSON.stringify(identity)) as RunIdentity
    claim(folder, known, { resume, command })
    return { ...checkpointsOf(folder, known), folder, release }
  } catch (error) {
    release()
    throw error
  }
}

/** Makes the folder the home of this run, or checks that it is. */
function claim(
  folder: RunFolder,
  known: RunIdentity,
  { resume, command }: { resume: boolean; command: string },
): void {
  if (!resume) {
    refuseLocked(folder.path)
    writeChecked(folder, configFile, `${JSON.stringify({ schema: 1, ...known, command }, null, 2)}\n`)
    return
  }
  if (hasChecked(folder, configFile)) return requireSame(folder.path, known, readConfig(folder))
  throw new AgogeError(`There is no run to resume in ${folder.path}`, {
    code: 'no-run',
    given: folder.path,
    expected: 'a run folder with a config.json',
  })
}

function checkpointsOf(folder: RunFolder, known: RunIdentity): Pick<RunRecord, 'load' | 'save'> {
  /** Of the checkpoint that is there. */
  let sum: string | undefined
  return {
    load() {
      const found = readCheckpoint(folder)
      if (found === null && folder.has('summary.json')) throw weightsGone(folder.path)
      if (found !== null) requireSame(folder.file(checkpointFile), known, found.checkpoint.identity)
      sum = found?.sum
      const { metricsBytes, ...times } =
        sum === undefined ? { metricsBytes: found?.checkpoint.metricsBytes } : readTimes(folder, sum)
      folder.truncate(metricsFile, Number(metricsBytes ?? 0))
      return found === null ? null : { state: found.checkpoint.state, times }
    },
    save(state, times) {
      const content: Checkpoint = { schema: 1, identity: known, state }
      const checkpoint = encodeState(content)
      const next = sha256(checkpoint)
      const checked: Checked = { schema: 2, sha256: next, checkpoint }
      saveTimes(folder, sum, next, { ...times, metricsBytes: folder.size(metricsFile) })
      folder.makeFolder('checkpoints')
      folder.write(checkpointFile, serialize(checked))
      sum = next
    },
  }
}

/** The record of a run, without opening it. Throws an AgogeError where it is none of classic RL. */
export function readRun(folder: RunFolder): { identity: RunIdentity; state: unknown } {
  const found = readCheckpoint(folder)
  if (folder.has(configFile)) readConfig(folder)
  if (found === null) {
    if (folder.has('summary.json') && readConfig(folder)['kind'] === 'array') throw weightsGone(folder.path)
    throw new AgogeError(`There is no trained agent in ${folder.path}`, {
      code: 'no-model',
      given: folder.path,
      expected: `a run folder with ${checkpointFile}`,
      hint: 'Train one: agoge train cartpole --algorithm ppo',
    })
  }
  return found.checkpoint
}

/** @throws AgogeError `bad-run-folder` where `config.json` is gone, or not what was written. */
export function readConfig(folder: RunFolder): RunIdentity {
  const text = readChecked(folder, configFile)
  let config: RunIdentity
  try {
    config = JSON.parse(text) as RunIdentity
  } catch (cause) {
    throw damaged(folder.file(configFile), cause)
  }
  refuseEarlierVersion(folder.path, config)
  return config
}

function readCheckpoint(folder: RunFolder): { checkpoint: Checkpoint; sum?: string } | null {
  if (!folder.has(checkpointFile)) return null
  const found = decode(folder, () => deserialize(folder.readBytes(checkpointFile)) as unknown)
  // Of an earlier version, without a checksum.
  if (isCheckpoint(found)) return { checkpoint: found }
  if (!hasChecksum(found)) throw damaged(folder.file(checkpointFile))
  const sum = sha256(found.checkpoint)
  if (sum !== found.sha256)
    throw damagedFile(folder.file(checkpointFile), {
      given: `sha-256 ${sum}`,
      expected: `sha-256 ${found.sha256}, as it was written`,
    })
  const checkpoint = decode(folder, () => decodeState(found.checkpoint))
  if (isCheckpoint(checkpoint)) return { checkpoint, sum }
  throw damaged(folder.file(checkpointFile))
}

function decode(folder: RunFolder, read: () => unknown): unknown {
  try {
    return read()
  } catch (cause) {
    throw damaged(folder.file(checkpointFile), cause)
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const isCheckpoint = (value: unknown): value is Checkpoint =>
  isRecord(value) && value['schema'] === 1 && isRecord(value['identity']) && 'state' in value

const hasChecksum = (value: unknown): value is Checked =>
  isRecord(value) && value['schema'] === 2 && value['checkpoint'] instanceof Uint8Array

/** Every field of `now` must be what it was; fields that the record alone has are notes. */
function requireSame(path: string, now: RunIdentity, before: RunIdentity): void {
  const differing = Object.keys(now).filter(
    (field) => JSON.stringify(now[field]) !== JSON.stringify(before[field]),
  )
  if (differing.length === 0) return
  const [field] = differing
  throw new AgogeError(`${path} is a checkpoint of another run: ${differing.join(', ')} differ`, {
    code: 'resume-mismatch',
    given: `${field}: ${JSON.stringify(before[field])} (before), ${JSON.stringify(now[field])} (now)`,
    expected: 'the same environment, algorithm, settings and seed',
    hint: 'Give the options of the run, or begin a new one with --out',
  })
}

function damaged(file: string, cause?: unknown): AgogeError {
  return damagedFile(file, {
    given: cause instanceof Error ? cause.message : 'bytes that are no checkpoint',
    expected: 'the file as this version writes it',
    cause,
  })
}

/**
 * Restores an agent that is fresh from a checkpoint.
 *
 * @param where the checkpoint, for the message.
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

/** The error for a checkpoint that belongs to something else. */
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
    ...(cause === undefined ? {} : { cause }),
  })
}

/**
 * Where a saved state has other fields than one's own, or arrays of other lengths: copying a short array into a long one
 * would go through, and leave half of the weights as they were. What is empty in one's own may be full in the other.
 */
function explainMisfit(own: unknown, saved: unknown, field: string): string | undefined {
  const length = lengthOf(own)
  if (length !== undefined) {
    const found = lengthOf(saved)
    if (found === undefined) return `${field} is no array`
    return length === 0 || found === length ? undefined : `${field} has ${found} entries, not ${length}`
  }
  if (typeof own !== 'object' || own === null) return undefined
  if (typeof saved !== 'object' || saved === null) return `${field} is ${String(saved)}`
  for (const [name, value] of Object.entries(own)) {
    const why = explainMisfit(value, (saved as Record<string, unknown>)[name], `${field}.${name}`)
    if (why !== undefined) return why
  }
  return undefined
}

/** Of typed arrays and their memory, whose lengths are fixed. */
function lengthOf(value: unknown): number | undefined {
  if (value instanceof ArrayBuffer) return value.byteLength
  return ArrayBuffer.isView(value) ? (value as Uint8Array).length : undefined
}
