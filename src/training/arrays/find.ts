import { arrayAlgorithms } from '../../algorithm/arrays/index.ts'
import type { ArrayAlgorithm, Preset } from '../../algorithm/arrays/index.ts'
import type { World } from '../../environment/index.ts'
import { AgogeError } from '../../error.ts'
import { checkBody } from './check-body.ts'
import { checkContexts, noContexts, seenWorld } from './context-settings.ts'
import type { ContextSettings } from './context-settings.ts'
import { findNamed } from './find-named.ts'
import type { NamedRun } from './seeds-types.ts'
import { arrayWorlds } from '../../worlds/array-worlds.ts'

/** A run whose names have been looked up. */
export interface FoundRun {
  /** As the agent sees it: with the context in its observation where that is visible. */
  world: World
  algorithm: ArrayAlgorithm
  slots: number
  /** Names and numbers for the record: what `config.json` keeps. */
  settings: { algorithm: string; preset: string; config: Preset; contexts?: ContextSettings }
}

/** @throws AgogeError listing what there is, with a suggestion. */
export function findWorld(name: string): World {
  return findNamed('world', name, arrayWorlds)
}

/** Names of the algorithms that can act in a world. */
export function algorithmsFor(world: World): string[] {
  return Object.keys(arrayAlgorithms).filter((name) => arrayAlgorithms[name].suits(world))
}

/** @throws AgogeError for names that are not there, settings the preset does not have, or an algorithm that cannot act in the world. */
export function findRun(given: Omit<NamedRun, 'steps'>): FoundRun {
  const world = findWorld(given.world)
  const algorithm = findNamed('algorithm', given.algorithm, arrayAlgorithms)
  if (!algorithm.suits(world)) {
    throw new AgogeError(`${given.algorithm} cannot act in ${given.world}`, {
      code: 'unsuitable-algorithm',
      given: `${given.algorithm}, with the ${world.action.type} actions of ${given.world}`,
      expected: `one of ${algorithmsFor(world).join(', ')}`,
    })
  }
  const presetName = given.preset ?? algorithm.defaultPreset(given.world)
  const preset = findNamed(`preset of ${given.algorithm}`, presetName, algorithm.presets)
  // Every algorithm takes a body, whether its presets have one or not.
  const known: Record<string, unknown> = { body: undefined, ...preset }
  for (const field of Object.keys(given.config ?? {}))
    findNamed(`setting of ${given.algorithm}`, field, known)
  const slots = given.slots ?? preset.slots
  const config: Preset = { ...preset, ...given.config, slots }
  const contexts = { ...noContexts, ...given.contexts }
  checkContexts(world, contexts)
  const seen = seenWorld(world, contexts)
  if (config['body'] !== undefined) checkBody(given.algorithm, config['body'], seen)
  return {
    world: seen,
    slots,
    algorithm: algorithm.create(config),
    settings: {
      algorithm: given.algorithm,
      preset: presetName,
      config,
      ...(given.contexts === undefined ? {} : { contexts }),
    },
  }
}
