import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { checkWorldDefinition, isWorld, openVector } from '../../environment/index.ts'
import type { Playable, World } from '../../environment/index.ts'
import { AgogeError } from '../../error.ts'

/** What a module of the user's exports as `world`. */
export interface WorldFile {
  /** Absolute. */
  readonly file: string
  readonly playable: Playable
  /** The same, or the spaces and the name of its objects. */
  readonly world: World
}

/** Whether a world is named by a module rather than by its name. */
export const isWorldFile = (name: string): boolean => /\.[cm]?[jt]s$/.test(name)

/**
 * Reads a module that exports `world` (or a default): a world, an object with `reset` and `step`, or a function that makes
 * such objects. Of these one is made and closed, to see what its spaces are.
 *
 * @throws AgogeError `bad-world-file` where there is none, `bad-environment` for a world that lacks something.
 */
export async function readWorldFile(path: string): Promise<WorldFile> {
  const file = resolve(path)
  if (!existsSync(file)) throw badFile(file, 'no such file')
  let module: { world?: unknown; default?: unknown }
  try {
    module = (await import(pathToFileURL(file).href)) as typeof module
  } catch (cause) {
    throw badFile(file, String(cause), cause)
  }
  const found = module.world ?? module.default
  const fields = typeof found === 'object' && found !== null ? found : {}
  const isPlayable = typeof found === 'function' || 'observationSpace' in fields || 'stateSize' in fields
  if (!isPlayable) throw badFile(file, `it exports ${Object.keys(module).join(', ') || 'nothing'}`)
  const playable = found as Playable
  if (isWorld(playable)) {
    checkWorldDefinition(playable)
    return { file, playable, world: playable }
  }
  const vector = await openVector(playable, { slots: 1 })
  await vector.close()
  return { file, playable, world: vector.world }
}

/** The module that a name means; undefined for the name of a world that Agoge has. */
export const worldFileOf = async (name: string): Promise<WorldFile | undefined> =>
  isWorldFile(name) ? await readWorldFile(name) : undefined

function badFile(file: string, given: string, cause?: unknown): AgogeError {
  return new AgogeError(`There is no world in ${file}`, {
    code: 'bad-world-file',
    given,
    expected:
      'a module that exports `world`: a world, an object with reset and step, or a function that makes one',
    ...(/\.[cm]?ts$/.test(file)
      ? { hint: 'Node reads TypeScript from 22.18 on; compile it to JavaScript for versions before' }
      : {}),
    ...(cause === undefined ? {} : { cause }),
  })
}
