import { explorationBonuses, withBonus } from '../algorithm/exploration/index.ts'
import type { ClassicAlgorithm } from '../algorithm/agent.ts'
import type { ClassicAlgorithmEntry, Preset } from '../algorithm/catalogue.ts'
import { AgogeError } from '../../error.ts'
import type { Encoder } from '../policy/index.ts'
import { findNamed } from './find-named.ts'

/** An exploration bonus by name, and its settings where they are others than the usual ones, as plain data. */
export type BonusSettings = { readonly kind: string } & Readonly<Record<string, string | number>>

/**
 * The settings of a bonus in full.
 *
 * @throws AgogeError for a bonus or a setting that is none, a number that is none, or an algorithm that takes no bonus.
 */
export function findBonus(
  given: BonusSettings,
  algorithm: string,
  { bonus: takesBonus }: ClassicAlgorithmEntry,
): BonusSettings {
  const { kind, ...changes } = given
  const { settings } = findNamed('bonus', kind, explorationBonuses)
  if (!takesBonus) {
    throw new AgogeError(`${algorithm} judges whole episodes by the rewards of the environment alone`, {
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

/** The algorithm on the sum of reward and bonus; networks of the bonus see what those of the algorithm see. */
export function applyBonus(
  algorithm: ClassicAlgorithm,
  { kind, ...settings }: BonusSettings,
  config: Preset,
): ClassicAlgorithm {
  const numbers = settings as Readonly<Record<string, number>>
  const encoder = config['encoder'] as (Encoder & { window?: number }) | undefined
  // A state that is carried from step to step is the learner's own.
  const own = encoder?.kind === 'gru' && encoder.window === undefined ? undefined : encoder
  return withBonus(algorithm, explorationBonuses[kind].create(numbers, own), numbers['weight'])
}
