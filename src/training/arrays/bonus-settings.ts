import { explorationBonuses, withBonus } from '../../algorithm/arrays/index.ts'
import type { ArrayAlgorithm, ArrayAlgorithmEntry, Preset } from '../../algorithm/arrays/index.ts'
import { AgogeError } from '../../error.ts'
import type { Body } from '../../policy/index.ts'
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
  { bonus: takesBonus }: ArrayAlgorithmEntry,
): BonusSettings {
  const { kind, ...changes } = given
  const { settings } = findNamed('bonus', kind, explorationBonuses)
  if (!takesBonus) {
    throw new AgogeError(`${algorithm} judges whole episodes by the rewards of the world alone`, {
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
  algorithm: ArrayAlgorithm,
  { kind, ...settings }: BonusSettings,
  config: Preset,
): ArrayAlgorithm {
  const numbers = settings as Readonly<Record<string, number>>
  const body = config['body'] as (Body & { window?: number }) | undefined
  // A state that is carried from step to step is the learner's own.
  const own = body?.kind === 'gru' && body.window === undefined ? undefined : body
  return withBonus(algorithm, explorationBonuses[kind].create(numbers, own), numbers['weight'])
}
