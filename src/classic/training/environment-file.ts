import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { defined } from '../../defined.ts'
import {
  independentAgents,
  requireDefinition,
  isEnvironmentDefinition,
  openVector,
} from '../environment/index.ts'
import type { MultiAgentDefinition, Playable, EnvironmentDefinition } from '../environment/index.ts'
import { AgogeError } from '../../error.ts'
import { importFile } from '../../import-file.ts'

/** A user's module that exports `environment`. */
export interface EnvironmentFile {
  /** Absolute path of the module. */
  readonly file: string
  readonly playable: Playable
  /** The definition. For objects: their spaces and name. */
  readonly definition: EnvironmentDefinition
}

/** Returns true if the environment is the path of a module, false if it is a name. */
export const isEnvironmentFile = (name: string): boolean => /\.[cm]?[jt]s$/.test(name)

/**
 * Loads a module that exports `environment` (or a default export, or a single definition under any name). The
 * export is a definition, an object with `reset` and `step`, or a function that makes such objects. Makes and
 * closes one object to read its spaces.
 *
 * @throws AgogeError `bad-environment-file` if there is no such module or export, `bad-environment` if the
 * environment is incomplete.
 */
export async function readEnvironmentFile(path: string): Promise<EnvironmentFile> {
  const file = resolve(path)
  if (!existsSync(file)) throw badFile(file, 'no such file')
  let module: { environment?: unknown; default?: unknown }
  try {
    module = await importFile(file)
  } catch (cause) {
    throw badFile(file, String(cause), cause)
  }
  const found = module.environment ?? module.default ?? onlyDefinition(module)
  const fields = typeof found === 'object' && found !== null ? found : {}
  const isPlayable = typeof found === 'function' || 'observationSpace' in fields || 'stateSize' in fields
  if (!isPlayable) throw badFile(file, `it exports ${Object.keys(module).join(', ') || 'nothing'}`)
  const playable = isMultiAgent(fields) ? independentAgents(fields) : (found as Playable)
  if (isEnvironmentDefinition(playable)) {
    requireDefinition(playable)
    return { file, playable, definition: playable }
  }
  const vector = await openVector(playable, { numEnvs: 1 })
  await vector.close()
  return { file, playable, definition: vector.definition }
}

/** Whether it is of several agents. */
const isMultiAgent = (fields: object): fields is MultiAgentDefinition =>
  'agents' in fields && 'stateSize' in fields

/** The only definition that a module exports, under any name; undefined if there are several or none. */
function onlyDefinition(module: object): unknown {
  const definitions = Object.values(module).filter(
    (value: unknown) => typeof value === 'object' && value !== null && 'stateSize' in value,
  )
  return definitions.length === 1 ? definitions[0] : undefined
}

/** The module at a path; undefined for the name of an environment of Agoge. */
export const environmentFileOf = async (name: string): Promise<EnvironmentFile | undefined> =>
  isEnvironmentFile(name) ? await readEnvironmentFile(name) : undefined

function badFile(file: string, given: string, cause?: unknown): AgogeError {
  return new AgogeError(`There is no environment in ${file}`, {
    code: 'bad-environment-file',
    given,
    expected:
      'a module that exports `environment`: a definition (defineEnvironment, defineToolEnvironment), an object with reset and step, or a function that makes one',
    ...(/\.[cm]?ts$/.test(file)
      ? { hint: 'Node reads TypeScript from 22.18 on; for versions before: npm install --save-dev tsx' }
      : {}),
    ...defined({ cause }),
  })
}
