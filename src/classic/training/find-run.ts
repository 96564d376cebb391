import { defined } from '../../defined.ts'
import { findNamed } from '../../closest-name.ts'
import type { BatchMember } from '../../engine/nn/index.ts'
import { AgogeError } from '../../error.ts'
import type { OnTrainingEvent } from '../../runs/run-folder.ts'
import type { ClassicAlgorithm, ClassicAlgorithmEntry, Preset } from '../algorithm/agent.ts'
import { explorationBonuses, withBonus } from '../algorithm/exploration/index.ts'
import { classicAlgorithms } from '../algorithms.ts'
import {
  type EnvironmentDefinition,
  isEnvironmentDefinition,
  type Playable,
  rowSize,
  wholeEpisodes,
} from '../environment/index.ts'
import { namedEnvironments } from '../environments/catalogue.ts'
import { type Encoder, encoderNetwork, windowOf } from '../policy/index.ts'
import {
  checkContexts,
  contextOptions,
  type ContextSettings,
  noContexts,
  seenDefinition,
} from './context-settings.ts'
import { type EnvironmentFile, environmentFileOf } from './environment-file.ts'
import { trainClassic } from './train-classic.ts'
import type { ClassicSummary, NamedRun } from './types.ts'

/** Name of an exploration bonus, with the settings that differ from its defaults, as plain data. */
export type BonusSettings = { readonly kind: string } & Readonly<Record<string, string | number>>

/**
 * The complete settings of a bonus.
 *
 * @throws AgogeError for an unknown bonus or setting, a value that is not a number, or an algorithm that takes no
 * bonus.
 */
function findBonus(
  given: BonusSettings,
  algorithm: string,
  { bonus: takesBonus }: ClassicAlgorithmEntry,
): BonusSettings {
  const { kind, ...changes } = given
  const { settings } = findNamed('bonus', kind, explorationBonuses)
  if (!takesBonus) {
    throw new AgogeError(`${algorithm} takes no bonus: it learns from the returns of whole episodes`, {
      code: 'bad-argument',
      given: `the bonus ${kind} for ${algorithm}`,
      expected: 'an algorithm that learns from the reward of every step',
    })
  }
  for (const [name, value] of Object.entries(changes)) {
    findNamed(`setting of the bonus ${kind}`, name, settings)
    if (typeof value === 'number' && value >= 0 && value < Infinity) continue
    throw new AgogeError(`${name} of the bonus ${kind} cannot be ${value}`, {
      code: 'bad-argument',
      given: value,
      expected: 'a number of at least 0',
    })
  }
  return { kind, ...settings, ...changes }
}

/** The algorithm, trained on reward plus bonus. The networks of the bonus use the encoder of the algorithm. */
function applyBonus(
  algorithm: ClassicAlgorithm,
  { kind, ...settings }: BonusSettings,
  config: Preset,
): ClassicAlgorithm {
  const numbers = settings as Readonly<Record<string, number>>
  const encoder = config['encoder'] as (Encoder & { window?: number }) | undefined
  // A recurrent state belongs to the policy; the bonus does without it.
  const own = encoder?.kind === 'gru' && encoder.window === undefined ? undefined : encoder
  return withBonus(algorithm, explorationBonuses[kind].create(numbers, own), numbers['weight'])
}

/** The settings of each kind of encoder, with their least values. */
const encoderSizes: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  mlp: {},
  cnn: { layers: 0 },
  gru: { size: 1, window: 1 },
  transformer: { window: 1, size: 1, heads: 1, layers: 1 },
}
/** The settings of a GRU with a state that is carried from step to step. */
const carriedSizes = { size: 1, sequence: 1, window: 1 }
const layerSizes = { channels: 1, kernel: 1, stride: 1, padding: 0 }

/**
 * Checks the encoder.
 *
 * @throws AgogeError for an unknown encoder, or one that does not fit this algorithm and these observations.
 */
function checkEncoder(algorithm: string, given: unknown, definition: EnvironmentDefinition): void {
  const { kind, ...sizes } = given as { kind: string } & Record<string, unknown>
  const known = findNamed('encoder', kind, encoderSizes)
  const carried = kind === 'gru' && algorithm === 'ppo' && sizes['window'] === undefined
  checkSizes(`body ${kind}`, sizes, carried ? carriedSizes : known)
  if (carried) return
  if ('window' in known && sizes['window'] === undefined) {
    throw new AgogeError(
      `The encoder ${kind} of ${algorithm} needs a window: the number of observations it sees`,
      {
        code: 'bad-argument',
        given: sizes,
        expected: 'a window, for example 8',
        hint: 'only ppo carries the state of a gru from step to step, and needs no window',
      },
    )
  }
  const encoder = given as Encoder
  const inputs = rowSize(definition.observation) * (windowOf(encoder) ?? 1)
  // Making the network checks the other settings. It makes no weights.
  encoderNetwork(encoder, definition.observation, { inputs, prefix: '' })
}

function checkSizes(
  of: string,
  sizes: Readonly<Record<string, unknown>>,
  known: Readonly<Record<string, number>>,
): void {
  for (const [name, value] of Object.entries(sizes)) {
    const least = findNamed(`size of ${of}`, name, known)
    if (of === 'body cnn' && Array.isArray(value)) {
      for (const layer of value)
        checkSizes('a layer of convolutions', layer as Record<string, unknown>, layerSizes)
    } else if (value !== undefined && !(Number.isSafeInteger(value) && (value as number) >= least)) {
      throw new AgogeError(`${name} of ${of} cannot be ${JSON.stringify(value)}`, {
        code: 'bad-argument',
        given: value,
        expected: `a whole number of at least ${least}`,
      })
    }
  }
}

/** A run whose names have been resolved. */
export interface FoundRun {
  /** The environment as the agent sees it: with visible context features in its observation. */
  definition: EnvironmentDefinition
  /** The environment for `trainClassic`: the same definition, or the user's objects. */
  playable: Playable
  algorithm: ClassicAlgorithm
  numEnvs: number
  /** Names and numbers for `config.json`. */
  settings: {
    algorithm: string
    preset: string
    config: Preset
    bonus?: BonusSettings
    contexts?: ContextSettings
    file?: string
  }
}

/**
 * Finds an entry by name.
 *
 * @throws AgogeError listing the names, with a suggestion.
 */
export function findEnvironment(name: string): EnvironmentDefinition {
  return findNamed('environment', name, namedEnvironments)
}

/** Finds an environment by its name in Agoge, or loads it from a user's module. */
export const openNamed = async (name: string): Promise<Pick<EnvironmentFile, 'definition' | 'playable'>> => {
  const file = await environmentFileOf(name)
  if (file !== undefined) return file
  const definition = findEnvironment(name)
  return { definition, playable: definition }
}

/** Names of the algorithms that support an environment. */
export function algorithmsFor(definition: EnvironmentDefinition): string[] {
  return Object.keys(classicAlgorithms).filter((name) => classicAlgorithms[name].suits(definition))
}

/**
 * Resolves the names and settings of a run.
 *
 * @param file the module of the environment, if it comes from one.
 * @throws AgogeError for unknown names, settings that the preset does not have, a bonus that the algorithm does
 * not take, or an algorithm that does not support the environment.
 */
export function findRun(given: Omit<NamedRun, 'steps'>, file?: EnvironmentFile): FoundRun {
  const definition = file?.definition ?? findEnvironment(given.environment)
  const algorithm = findNamed('algorithm', given.algorithm, classicAlgorithms)
  const contexts = { ...noContexts, ...given.contexts }
  checkContexts(definition, contexts)
  const isObject = file !== undefined && !isEnvironmentDefinition(file.playable)
  if (isObject && contexts.visible) {
    throw new AgogeError(`The observations of the object ${definition.name} cannot include its context`, {
      code: 'bad-argument',
      given: '--visible',
      expected: 'a definition, or an object whose own observations include the context',
    })
  }
  const seen = seenDefinition(definition, contexts)
  if (!algorithm.suits(seen)) {
    const { observation, action, agentNames } = seen
    throw new AgogeError(`${given.algorithm} cannot act in ${given.environment}`, {
      code: 'unsuitable-algorithm',
      given: `${given.algorithm}, with ${observation.type} observations, ${action.type} actions${agentNames === undefined ? '' : ` and ${agentNames.length} agents`}`,
      expected: `one of ${algorithmsFor(seen).join(', ')}`,
    })
  }
  const presetName = given.preset ?? algorithm.defaultPreset(given.environment)
  const preset = findNamed(`preset of ${given.algorithm}`, presetName, algorithm.presets)
  // Every network takes an encoder, whether or not its preset has one.
  const known: Record<string, unknown> = { ...(algorithm.network ? { encoder: undefined } : {}), ...preset }
  for (const field of Object.keys(given.config ?? {}))
    findNamed(`setting of ${given.algorithm}`, field, known)
  const numEnvs = wholeEpisodes(seen, given.numEnvs ?? preset.numEnvs)
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
      ...defined({ bonus }),
      ...(given.contexts === undefined ? {} : { contexts }),
      ...(file === undefined ? {} : { file: file.file }),
    },
  }
}

/** Options of `trainNamed`. */
export interface TrainNamedOptions extends NamedRun {
  seed: number
  /** The run folder. Default: nothing is written. */
  out?: string
  resume: boolean
  command: string
  onEvent?: OnTrainingEvent
  signal?: AbortSignal
  /** As in `trainClassic`. */
  batch?: BatchMember
}

/**
 * Runs `trainClassic` for an environment and an algorithm by name, or an environment of a module. The agent is
 * saved in the run folder, if there is one.
 */
export async function trainNamed(options: TrainNamedOptions): Promise<ClassicSummary> {
  const { definition, playable, algorithm, numEnvs, settings } = findRun(
    options,
    await environmentFileOf(options.environment),
  )
  const { steps, seed, evaluate, out, resume, command, onEvent, signal, batch } = options
  const { summary, agent } = await trainClassic({
    definition: playable,
    algorithm,
    numEnvs,
    settings: { ...settings },
    steps,
    seed,
    resume,
    command,
    ...contextOptions(definition, settings.contexts, seed),
    ...defined({ out, evaluate, onEvent, signal, batch }),
  })
  await agent.dispose()
  return summary
}
