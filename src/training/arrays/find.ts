import { arrayAlgorithms } from '../../algorithm/arrays/index.ts'
import type { ArrayAlgorithm, Preset } from '../../algorithm/arrays/index.ts'
import { isWorld } from '../../environment/index.ts'
import type { Playable, World } from '../../environment/index.ts'
import { AgogeError } from '../../error.ts'
import { applyBonus, findBonus } from './bonus-settings.ts'
import type { BonusSettings } from './bonus-settings.ts'
import { checkBody } from './check-body.ts'
import { checkContexts, noContexts, seenWorld } from './context-settings.ts'
import type { ContextSettings } from './context-settings.ts'
import { findNamed } from './find-named.ts'
import type { NamedRun } from './seeds-types.ts'
import { worldFileOf } from './world-file.ts'
import type { WorldFile } from './world-file.ts'
import { arrayWorlds } from '../../worlds/array-worlds.ts'

/** A run whose names have been looked up. */
export interface FoundRun {
  /** As the agent sees it: with the context in its observation where that is visible. */
  world: World
  /** The same, or the objects of the user's that have these spaces: what `trainArray` takes. */
  playable: Playable
  algorithm: ArrayAlgorithm
  slots: number
  /** Names and numbers for the record: what `config.json` keeps. */
  settings: {
    algorithm: string
    preset: string
    config: Preset
    bonus?: BonusSettings
    contexts?: ContextSettings
    file?: string
  }
}

/** @throws AgogeError listing what there is, with a suggestion. */
export function findWorld(name: string): World {
  return findNamed('world', name, arrayWorlds)
}

/** By the name of one that Agoge has, or out of a module of the user's. */
export const openWorldNamed = async (name: string): Promise<Pick<WorldFile, 'world' | 'playable'>> => {
  const file = await worldFileOf(name)
  if (file !== undefined) return file
  const world = findWorld(name)
  return { world, playable: world }
}

/** Names of the algorithms that can act in a world. */
export function algorithmsFor(world: World): string[] {
  return Object.keys(arrayAlgorithms).filter((name) => arrayAlgorithms[name].suits(world))
}

/**
 * @param file where the world is that of a module.
 * @throws AgogeError for names that are not there, settings the preset does not have, a bonus it does not take, or an algorithm that cannot act in the world.
 */
export function findRun(given: Omit<NamedRun, 'steps'>, file?: WorldFile): FoundRun {
  const world = file?.world ?? findWorld(given.world)
  const algorithm = findNamed('algorithm', given.algorithm, arrayAlgorithms)
  const contexts = { ...noContexts, ...given.contexts }
  checkContexts(world, contexts)
  const isObject = file !== undefined && !isWorld(file.playable)
  if (isObject && contexts.visible) {
    throw new AgogeError(`${world.name} is an object, whose observations nothing can be added to`, {
      code: 'bad-argument',
      given: '--visible',
      expected: 'a world over slots, or an object that shows its context itself',
    })
  }
  const seen = seenWorld(world, contexts)
  if (!algorithm.suits(seen)) {
    const { observation, action } = seen
    throw new AgogeError(`${given.algorithm} cannot act in ${given.world}`, {
      code: 'unsuitable-algorithm',
      given: `${given.algorithm}, with ${observation.type} observations and ${action.type} actions`,
      expected: `one of ${algorithmsFor(seen).join(', ')}`,
    })
  }
  const presetName = given.preset ?? algorithm.defaultPreset(given.world)
  const preset = findNamed(`preset of ${given.algorithm}`, presetName, algorithm.presets)
  // Every network takes a body, whether its presets have one or not.
  const known: Record<string, unknown> = { ...(algorithm.network ? { body: undefined } : {}), ...preset }
  for (const field of Object.keys(given.config ?? {}))
    findNamed(`setting of ${given.algorithm}`, field, known)
  const slots = given.slots ?? preset.slots
  const config: Preset = { ...preset, ...given.config, slots }
  if (config['body'] !== undefined) checkBody(given.algorithm, config['body'], seen)
  const bonus = given.bonus && findBonus(given.bonus, given.algorithm, algorithm)
  const created = algorithm.create(config)
  return {
    world: seen,
    playable: isObject ? file.playable : seen,
    slots,
    algorithm: bonus === undefined ? created : applyBonus(created, bonus, config),
    settings: {
      algorithm: given.algorithm,
      preset: presetName,
      config,
      ...(bonus === undefined ? {} : { bonus }),
      ...(given.contexts === undefined ? {} : { contexts }),
      ...(file === undefined ? {} : { file: file.file }),
    },
  }
}
