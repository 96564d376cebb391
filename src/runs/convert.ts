import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize } from 'node:v8'
import { AgogeError } from '../error.ts'
import { deepestJson, parseForeignJson } from '../untrusted/foreign-json.ts'
import { parseOwnJson } from '../untrusted/own-json.ts'
import {
  checksumsFile,
  formatChecksums,
  parseChecksums,
  readWithChecksum,
  sha256,
  withChecksum,
} from './checksums.ts'
import { readTimes, saveTimes, startOf, writeChecked } from './checksums.ts'
import { lockRun } from './lock.ts'
import { openRunFolder } from './run-folder.ts'
import type { RunFolder } from './run-folder.ts'
import { decodeState, encodeState } from './state-bytes.ts'

/** Fields of version 0.1 and their names today. */
const renamed: Readonly<Record<string, string>> = {
  world: 'environment',
  slots: 'numEnvs',
  body: 'encoder',
  figures: 'measured',
  kept: 'storage',
  team: 'pair',
  family: 'kind',
  families: 'kinds',
  familyEstimates: 'kindEstimates',
  unseenWording: 'unseenParaphrases',
  rewardPaidToFailed: 'rewardToFailed',
  paidToFailed: 'rewardedFailures',
}

/** The checkpoint file of a classic run of version 0.1. */
const classicFile = 'checkpoints/last.bin'

/** Fields with text of a model, tool or user, which stays as it is. */
const foreign = new Set(['nodes', 'messages', 'arguments', 'tools'])

/** The same value, with fields of version 0.1 renamed. */
export function renameFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renameFields)
  if (!isPlain(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      renamed[key] ?? key,
      foreign.has(key) ? each : renameFields(each),
    ]),
  )
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** @throws AgogeError `earlier-version` for the `config.json` of a run of version 0.1, naming the command that converts it. */
export function refuseEarlierVersion(path: string, config: Readonly<Record<string, unknown>>): void {
  const isRenamed = !Object.hasOwn(config, 'world')
  if (isRenamed && !existsSync(join(path, classicFile))) return
  throw new AgogeError(`The run in ${path} was made by version 0.1 of Agoge`, {
    code: 'earlier-version',
    given: isRenamed ? classicFile : 'a config.json with the field "world"',
    expected: 'the fields and files of this version',
    hint: `Convert it first: agoge convert ${path}`,
  })
}

/**
 * Rewrites a run of version 0.1 with the names of this version: settings, state and results. Weights do not change. A run of
 * this version is left as it is.
 *
 * @returns the names of the rewritten files.
 */
export function convertRun(path: string): string[] {
  if (!existsSync(join(path, 'config.json')))
    throw new AgogeError(`There is no run in ${path}`, {
      code: 'no-run',
      given: path,
      expected: 'a run folder, with its config.json',
    })
  const folder = openRunFolder({ path })
  const release = lockRun(folder)
  try {
    const seeds = folder.list('.').filter((name) => /^seed-\d+$/.test(name))
    const below = seeds.flatMap((name) =>
      folder.has(join(name, 'config.json'))
        ? convertRun(folder.file(name)).map((file) => join(name, file))
        : [],
    )
    return [...below, ...convertFiles(folder)]
  } finally {
    release()
  }
}

function convertFiles(folder: RunFolder): string[] {
  // Episodes stay: checkpoints store byte offsets into them, and the reader accepts both names.
  const pending = folder.list('pending').map((name) => `pending/${name}`)
  const changed = ['summary.json', ...pending].filter((name) => folder.has(name) && convertText(folder, name))
  if (convertState(folder)) changed.push('state.json')
  changed.push(...convertClassicCheckpoint(folder))
  // Last, since this file identifies the version: an interrupted conversion then starts again.
  if (convertText(folder, 'config.json')) changed.push('config.json')
  return changed
}

function convertText(folder: RunFolder, name: string): boolean {
  const before = folder.read(name, String)
  const given = readJson(before)
  if (given === undefined) throw unreadable(folder, name)
  const now = `${JSON.stringify(renameFields(given), null, 2)}\n`
  if (JSON.stringify(given) === JSON.stringify(parseOwnJson(now))) return false
  const sums = folder.has(checksumsFile)
    ? folder.read(checksumsFile, parseChecksums)
    : new Map<string, string>()
  const listed = sums?.get(name)
  // An interrupted conversion may already have listed the checksum of the new content.
  if (sums === undefined || (listed !== undefined && ![sha256(before), sha256(now)].includes(listed)))
    throw unreadable(folder, sums === undefined ? checksumsFile : name)
  if (listed !== undefined) folder.write(checksumsFile, formatChecksums(sums.set(name, sha256(now))))
  folder.write(name, now)
  return true
}

function readJson(text: string): unknown {
  try {
    // The arguments of a call may be nested as deep as a parser allows.
    return parseForeignJson(text, 2 * deepestJson)
  } catch {
    return undefined
  }
}

function convertState(folder: RunFolder): boolean {
  if (!folder.has('state.json')) return false
  const found = folder.read('state.json', readWithChecksum)
  if (found === undefined) throw unreadable(folder, 'state.json')
  const fields = renameFields(found.fields) as Record<string, unknown>
  const text = withChecksum(fields, 1)
  if (folder.read('state.json', (before) => before === text)) return false
  moveTimes(folder, sha256(JSON.stringify(found.fields)), sha256(JSON.stringify(fields)))
  folder.write('state.json', text)
  return true
}

/** Version 0.1 stored a classic run in one file. Now it has the same checkpoints as other runs. */
function convertClassicCheckpoint(folder: RunFolder): string[] {
  if (!folder.has(classicFile)) return []
  const { content, sum } = readClassicCheckpoint(folder)
  const { state, metricsBytes: bytes } = renameFields(content) as ClassicCheckpoint
  const { agent, environment, measured, seconds, evaluationSeconds, ...loop } = state
  // Before there were checksums, the state contained the times.
  const { metricsBytes = bytes, ...times } =
    sum === undefined ? { seconds, evaluationSeconds } : readTimes(folder, sum)
  const checkpoint = `step-${String(loop['step'])}`
  const learner = `checkpoints/${checkpoint}/learner.bin`
  folder.makeFolder(`checkpoints/${checkpoint}`)
  writeChecked(
    folder,
    learner,
    encodeState({ step: loop['step'], agent: withoutOwnRollout(agent), environment, measured }),
  )
  const current = { checkpoint, state: { schema: 1, ...loop, best: null, notFinite: 0 } }
  const offsets = { 'metrics.jsonl': metricsBytes ?? 0 }
  saveTimes(folder, sum === undefined ? [] : [sum], sha256(JSON.stringify(current)), { ...times, offsets })
  folder.write('state.json', withChecksum(current, 1))
  folder.remove(classicFile)
  return ['state.json', learner]
}

interface ClassicCheckpoint {
  state: Record<string, unknown>
  metricsBytes?: unknown
}

function readClassicCheckpoint(folder: RunFolder): { content: unknown; sum?: string } {
  const stored = deserialize(folder.readBytes(classicFile)) as { sha256?: string; checkpoint?: Uint8Array }
  if (stored.checkpoint === undefined) return { content: stored }
  const sum = sha256(stored.checkpoint)
  if (sum !== stored.sha256) throw unreadable(folder, classicFile)
  return { content: decodeState(stored.checkpoint), sum }
}

/** Drops PQN's own arrays for the steps since its last update. It collects new steps for its next update. */
function withoutOwnRollout(agent: unknown): unknown {
  if (!isPlain(agent)) return agent
  const { storage, t, ...rest } = agent
  if (isPlain(storage) && typeof t === 'number' && 'order' in storage) return { ...rest, rollout: null }
  return Object.fromEntries(Object.entries(agent).map(([name, part]) => [name, withoutOwnRollout(part)]))
}

/** Times are stored under the checksum of their checkpoint. */
function moveTimes(folder: RunFolder, before: string, now: string): void {
  if (!folder.has('times.json')) return
  const fields = folder.read('times.json', readWithChecksum)?.fields
  if (fields === undefined) throw unreadable(folder, 'times.json')
  const times = fields['times'] as Record<string, unknown>
  folder.write('times.json', withChecksum({ times: { ...times, [now]: times[before] ?? times[now] } }, 1))
}

const unreadable = (folder: RunFolder, name: string): AgogeError =>
  new AgogeError(`${folder.file(name)} is damaged`, {
    code: 'bad-run-folder',
    given: folder.read(name, startOf),
    expected: 'the file as version 0.1 wrote it',
  })
