import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { defined } from '../../defined.ts'
import { requireDefinition, isEnvironmentDefinition, openVector } from '../environment/index.ts'
import type { Playable, EnvironmentDefinition } from '../environment/index.ts'
import { AgogeError } from '../../error.ts'
import { importFile } from '../../import-file.ts'

/** What a module of the user's exports as `environment`. */
export interface EnvironmentFile {
  /** Absolute. */
  readonly file: string
  readonly playable: Playable
  /** The same, or the spaces and the name of its objects. */
  readonly definition: EnvironmentDefinition
}

/** Whether an environment is named by a module rather than by its name. */
export const isEnvironmentFile = (name: string): boolean => /\.[cm]?[jt]s$/.test(name)

/**
 * Reads a module that exports `environment` (or a default, or one definition by any name): a definition, an object with `reset` and `step`,
 * or a function that makes such objects. Of these one is made and closed, to see what its spaces are.
 *
 * @throws AgogeError `bad-environment-file` where there is none, `bad-environment` for an environment that lacks something.
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
  const playable = found as Playable
  if (isEnvironmentDefinition(playable)) {
    requireDefinition(playable)
    return { file, playable, definition: playable }
  }
  const vector = await openVector(playable, { numEnvs: 1 })
  await vector.close()
  return { file, playable, definition: vector.definition }
}

/** The definition that a module exports under whatever name; undefined where there are several or none. */
function onlyDefinition(module: object): unknown {
  const definitions = Object.values(module).filter(
    (value: unknown) => typeof value === 'object' && value !== null && 'stateSize' in value,
  )
  return definitions.length === 1 ? definitions[0] : undefined
}

/** The module that a name means; undefined for the name of an environment that Agoge has. */
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
