import { classicAlgorithms } from '../algorithms.ts'
import type { ClassicAlgorithm } from '../algorithm/agent.ts'
import type { Preset } from '../algorithm/catalogue.ts'
import { isEnvironmentDefinition } from '../environment/index.ts'
import type { Playable, EnvironmentDefinition } from '../environment/index.ts'
import { AgogeError } from '../../error.ts'
import { applyBonus, findBonus } from './bonus-settings.ts'
import type { BonusSettings } from './bonus-settings.ts'
import { checkEncoder } from './check-encoder.ts'
import { checkContexts, noContexts, seenDefinition } from './context-settings.ts'
import type { ContextSettings } from './context-settings.ts'
import { findNamed } from './find-named.ts'
import type { NamedRun } from './seeds-types.ts'
import { environmentFileOf } from './environment-file.ts'
import type { EnvironmentFile } from './environment-file.ts'
import { classicEnvironments } from '../environments/catalogue.ts'

/** A run whose names have been looked up. */
export interface FoundRun {
  /** As the agent sees it: with the context in its observation where that is visible. */
  definition: EnvironmentDefinition
  /** The same, or the objects of the user's that have these spaces: what `trainClassic` takes. */
  playable: Playable
  algorithm: ClassicAlgorithm
  numEnvs: number
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
export function findEnvironment(name: string): EnvironmentDefinition {
  return findNamed('environment', name, classicEnvironments)
}

/** By the name of one that Agoge has, or out of a module of the user's. */
export const openNamed = async (name: string): Promise<Pick<EnvironmentFile, 'definition' | 'playable'>> => {
  const file = await environmentFileOf(name)
  if (file !== undefined) return file
  const definition = findEnvironment(name)
  return { definition, playable: definition }
}

/** Names of the algorithms that can act in an environment. */
export function algorithmsFor(definition: EnvironmentDefinition): string[] {
  return Object.keys(classicAlgorithms).filter((name) => classicAlgorithms[name].suits(definition))
}

/**
 * @param file where the environment is that of a module.
 * @throws AgogeError for names that are not there, settings the preset does not have, a bonus it does not take, or an algorithm that cannot act in the environment.
 */
export function findRun(given: Omit<NamedRun, 'steps'>, file?: EnvironmentFile): FoundRun {
  const definition = file?.definition ?? findEnvironment(given.environment)
  const algorithm = findNamed('algorithm', given.algorithm, classicAlgorithms)
  const contexts = { ...noContexts, ...given.contexts }
  checkContexts(definition, contexts)
  const isObject = file !== undefined && !isEnvironmentDefinition(file.playable)
  if (isObject && contexts.visible) {
    throw new AgogeError(`${definition.name} is an object, whose observations nothing can be added to`, {
      code: 'bad-argument',
      given: '--visible',
      expected: 'an environment over slots, or an object that shows its context itself',
    })
  }
  const seen = seenDefinition(definition, contexts)
  if (!algorithm.suits(seen)) {
    const { observation, action } = seen
    throw new AgogeError(`${given.algorithm} cannot act in ${given.environment}`, {
      code: 'unsuitable-algorithm',
      given: `${given.algorithm}, with ${observation.type} observations and ${action.type} actions`,
      expected: `one of ${algorithmsFor(seen).join(', ')}`,
    })
  }
  const presetName = given.preset ?? algorithm.defaultPreset(given.environment)
  const preset = findNamed(`preset of ${given.algorithm}`, presetName, algorithm.presets)
  // Every network takes a body, whether its presets have one or not.
  const known: Record<string, unknown> = { ...(algorithm.network ? { encoder: undefined } : {}), ...preset }
  for (const field of Object.keys(given.config ?? {}))
    findNamed(`setting of ${given.algorithm}`, field, known)
  const numEnvs = given.numEnvs ?? preset.numEnvs
  const config: Preset = { ...preset, ...given.config, numEnvs }
  if (config['encoder'] !== undefined) checkEncoder(given.algorithm, config['encoder'], seen)
  const bonus = given.bonus && findBonus(given.bonus, given.algorithm, algorithm)
  const created = algorithm.create(config)
  return {
    definition: seen,
    playable: isObject ? file.playable : seen,
    numEnvs,
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
