import { deserialize, serialize } from 'node:v8'
import { AgogeError } from '../../error.ts'
import { openRunFolder, refuseOccupied } from '../run-folder.ts'
import type { RunFolder } from '../run-folder.ts'

const configFile = 'config.json'
const checkpointFile = 'checkpoints/last.bin'
export const metricsFile = 'metrics.jsonl'

/** What makes two runs the same; plain JSON. */
export type RunIdentity = Readonly<Record<string, unknown>>

/** The run folder of the array lane: what it is (`config.json`), figures, one checkpoint. */
export interface RunRecord {
  readonly folder: RunFolder
  /** The last checkpoint; null where none was written yet. Figures written after it are cut off. */
  load(): unknown
  save(state: unknown): void
}

interface Checkpoint {
  schema: 1
  identity: RunIdentity
  metricsBytes: number
  state: unknown
}

/**
 * Opens the folder for a new run, or for one to go on with.
 *
 * @throws AgogeError where it holds another run, or none to go on with.
 */
export function openRunRecord(
  path: string,
  identity: RunIdentity,
  { resume, command }: { resume: boolean; command: string },
): RunRecord {
  if (!resume) refuseOccupied(path)
  const folder = openRunFolder({ path })
  const known = JSON.parse(JSON.stringify(identity)) as RunIdentity
  if (folder.has(configFile)) requireSame(path, known, readConfig(folder))
  else if (resume) {
    throw new AgogeError(`There is no run to resume in ${path}`, {
      code: 'no-run',
      given: path,
      expected: 'a run folder with a config.json',
    })
  } else folder.write(configFile, `${JSON.stringify({ schema: 1, ...known, command }, null, 2)}\n`)
  return {
    folder,
    load() {
      const found = readCheckpoint(folder)
      folder.truncate(metricsFile, found?.metricsBytes ?? 0)
      if (found === null) return null
      requireSame(folder.file(checkpointFile), known, found.identity)
      return found.state
    },
    save(state) {
      const checkpoint: Checkpoint = {
        schema: 1,
        identity: known,
        metricsBytes: folder.size(metricsFile),
        state,
      }
      folder.makeFolder('checkpoints')
      folder.write(checkpointFile, serialize(checkpoint))
    },
  }
}

/** The record of a run, without opening it. Throws an AgogeError where it is none of the array lane. */
export function readRun(folder: RunFolder): { identity: RunIdentity; state: unknown } {
  const found = readCheckpoint(folder)
  if (found === null) {
    throw new AgogeError(`There is no trained agent in ${folder.path}`, {
      code: 'no-model',
      given: folder.path,
      expected: `a run folder with ${checkpointFile}`,
      hint: 'Train one: agoge train cartpole --algorithm ppo',
    })
  }
  return found
}

export function readConfig(folder: RunFolder): RunIdentity {
  const text = folder.read(configFile)
  try {
    return JSON.parse(text) as RunIdentity
  } catch (cause) {
    throw damaged(folder.file(configFile), cause)
  }
}

function readCheckpoint(folder: RunFolder): Checkpoint | null {
  if (!folder.has(checkpointFile)) return null
  const bytes = folder.readBytes(checkpointFile)
  let found: unknown
  try {
    found = deserialize(bytes)
  } catch (cause) {
    throw damaged(folder.file(checkpointFile), cause)
  }
  if (typeof found === 'object' && found !== null && 'schema' in found && found.schema === 1)
    return found as Checkpoint
  throw damaged(folder.file(checkpointFile))
}

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
    expected: 'the same world, algorithm, settings and seed',
    hint: 'Give the options of the run, or begin a new one with --out',
  })
}

function damaged(file: string, cause?: unknown): AgogeError {
  return new AgogeError(`${file} cannot be read`, {
    code: 'bad-run-folder',
    given: file,
    expected: 'the file as this version writes it (schema 1)',
    ...(cause === undefined ? {} : { cause }),
  })
}
