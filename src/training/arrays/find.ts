import { arrayAlgorithms } from '../../algorithm/arrays/index.ts'
import type { ArrayAlgorithm, Preset } from '../../algorithm/arrays/index.ts'
import type { World } from '../../environment/index.ts'
import { AgogeError } from '../../error.ts'
import { nearest } from '../../tool/nearest.ts'
import type { NamedRun } from './seeds-types.ts'
import { arrayWorlds } from '../../worlds/array-worlds.ts'

/** A run whose names have been looked up. */
export interface FoundRun {
  world: World
  algorithm: ArrayAlgorithm
  slots: number
  /** Names and numbers for the record: what `config.json` keeps. */
  settings: { algorithm: string; preset: string; config: Preset }
}

/** @throws AgogeError listing what there is, with a suggestion. */
export function findWorld(name: string): World {
  return find('world', name, arrayWorlds)
}

/** Names of the algorithms that can act in a world. */
export function algorithmsFor(world: World): string[] {
  return Object.keys(arrayAlgorithms).filter((name) => arrayAlgorithms[name].suits(world))
}

/** @throws AgogeError for names that are not there, settings the preset does not have, or an algorithm that cannot act in the world. */
export function findRun(given: Omit<NamedRun, 'steps'>): FoundRun {
  const world = findWorld(given.world)
  const algorithm = find('algorithm', given.algorithm, arrayAlgorithms)
  if (!algorithm.suits(world)) {
    throw new AgogeError(`${given.algorithm} cannot act in ${given.world}`, {
      code: 'unsuitable-algorithm',
      given: `${given.algorithm}, with the ${world.action.type} actions of ${given.world}`,
      expected: `one of ${algorithmsFor(world).join(', ')}`,
    })
  }
  const presetName = given.preset ?? algorithm.defaultPreset(given.world)
  const preset = find(`preset of ${given.algorithm}`, presetName, algorithm.presets)
  for (const field of Object.keys(given.config ?? {}))
    find(`setting of ${given.algorithm}`, field, preset as Record<string, unknown>)
  const slots = given.slots ?? preset.slots
  const config: Preset = { ...preset, ...given.config, slots }
  return {
    world,
    slots,
    algorithm: algorithm.create(config),
    settings: { algorithm: given.algorithm, preset: presetName, config },
  }
}

function find<T>(kind: string, name: string, known: Readonly<Record<string, T>>): T {
  if (Object.hasOwn(known, name)) return known[name]
  const names = Object.keys(known)
  const meant = nearest(name, names)
  throw new AgogeError(`There is no ${kind} named "${name}".`, {
    code: `unknown-${kind.split(' ')[0]}`,
    given: name,
    expected: `one of ${names.join(', ')}`,
    ...(meant === undefined ? {} : { hint: `Did you mean "${meant}"?` }),
  })
}
