import type { AdvantageSettings, PolicyLossSettings, PolicySettings } from './catalogue.ts'
import type { AdvantageDefinition, LossDefinition, SettingsOf } from './define.ts'
import { optimisePolicy } from './policy-optimisation/optimise-policy.ts'
import type { AnySettings, OwnParts, PolicyOptimisation } from './policy-optimisation/optimise-policy.ts'
import type { BaseSettings } from './policy-optimisation/settings.ts'
import type { AdvantageFunction, BatchSettings } from './types.ts'

/** An algorithm of policy optimisation with a name: settings that are plain JSON, so that the record of a run says all of it. */
export interface AlgorithmDefinition<Name extends string = string> extends OwnParts {
  readonly kind: 'algorithm'
  readonly name: Name
  /** One line, for help and tables. */
  readonly about: string
  /** arXiv number. */
  readonly source?: string
  readonly settings: AnySettings
  /** How the loop samples and uses batches for it. */
  readonly batch?: BatchSettings
}

/**
 * Gives settings of policy optimisation a name, with estimators and losses of your own if they call any.
 *
 * @returns what `train` and `trainAgent` take as `algorithm`: the run records name and settings.
 * @example
 * const algorithm = defineAlgorithm({
 *   name: 'median',
 *   about: 'against the median of the group',
 *   advantages: [median], // defineAdvantage({ name: 'median', ... })
 *   settings: { advantage: { name: 'median' }, loss: { name: 'sapo' }, aggregation: { mode: 'token-mean' } },
 * })
 * await train({ environment, tasks, algorithm })
 */
export function defineAlgorithm<
  const Name extends string,
  const Advantages extends readonly AdvantageDefinition[] = readonly [],
  const Losses extends readonly LossDefinition[] = readonly [],
>(definition: {
  readonly name: Name
  readonly about: string
  readonly source?: string
  readonly settings: BaseSettings & {
    advantage: AdvantageSettings | AdvantageFunction | SettingsOf<Advantages[number]>
    loss: PolicyLossSettings | SettingsOf<Losses[number]>
  }
  readonly batch?: BatchSettings
  readonly advantages?: Advantages
  readonly losses?: Losses
}): AlgorithmDefinition<Name> {
  return { kind: 'algorithm', ...definition }
}

/** The algorithm that a definition describes. `settings`: those that a run recorded, where they count instead of the definition's. */
export function createAlgorithm(
  definition: AlgorithmDefinition,
  settings: AnySettings | PolicySettings = definition.settings,
): PolicyOptimisation {
  return optimisePolicy(settings, definition)
}
