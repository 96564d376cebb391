import type { AdvantageSettings, PolicyLossSettings, PolicySettings } from './catalogue.ts'
import type { AdvantageDefinition, LossDefinition, SettingsOf } from './define.ts'
import { optimisePolicy } from './policy-optimisation/optimise-policy.ts'
import type { AnySettings, OwnParts, PolicyOptimisation } from './policy-optimisation/optimise-policy.ts'
import type { AdvantageFunction, BaseSettings, BatchSettings } from './types.ts'

/**
 * A named algorithm of policy optimisation. Its settings are plain JSON, so the record of a run describes it
 * completely.
 */
export interface AlgorithmDefinition<Name extends string = string> extends OwnParts {
  readonly kind: 'algorithm'
  readonly name: Name
  /** One line for help and tables. */
  readonly about: string
  /** arXiv number. */
  readonly source?: string
  readonly settings: AnySettings
  /** How the loop samples and uses batches for it. */
  readonly batch?: BatchSettings
}

/**
 * Names a set of policy-optimisation settings. They can use estimators and losses of your own.
 *
 * @returns the `algorithm` for `train` and `trainAgent`. The run records its name and settings.
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

/**
 * The algorithm that a definition describes. `settings`: overrides those of the definition, for instance with those
 * that a run recorded.
 */
export function createAlgorithm(
  definition: AlgorithmDefinition,
  settings: AnySettings | PolicySettings = definition.settings,
): PolicyOptimisation {
  return optimisePolicy(settings, definition)
}
