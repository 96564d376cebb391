import type { LossSettings } from '../model-backend.ts'
import type { GroupRewards } from './advantages/group.ts'
import type { TokenInputs } from './losses/over-tokens.ts'
import type { LossValue } from './losses/tokens.ts'
import type { BaseSettings, BatchSettings } from './types.ts'
import type { PreferencePairs, PreferenceValue } from './preference/pairs.ts'
import type { SettingFields } from './setting-fields.ts'

/** Settings of a part that is chosen by name. */
export interface NamedSettings {
  name: string
}

/** Settings of policy optimisation whose parts may have any name. */
export type OpenSettings = BaseSettings & { advantage: NamedSettings; loss: NamedSettings }

/** The algorithm that a part was published as: it gets the name of the part, for `--algorithm` and the tables of the docs. */
export interface PartPreset {
  /** Default: what the part says. */
  about?: string
  /** arXiv number. Default: the first source of the part. */
  source?: string
  settings: OpenSettings
  /** How the loop samples and uses batches for it. */
  batch?: BatchSettings
}

/** What every definition says of itself. */
export interface About<Name extends string> {
  /** As in the settings: kebab-case. No other of its kind has it. */
  readonly name: Name
  /** One line, for help and tables. */
  readonly about: string
  /** For the tables of the docs, plain text. */
  readonly formula: string
  /** arXiv numbers, or where else it is from. */
  readonly source?: readonly string[]
}

// ---- Advantages

/** The turns of one episode. */
export interface EpisodeTurns {
  /** What the environment rewarded each turn with, without the outcome. */
  turns: readonly number[]
  /** The reward of the episode. */
  outcome: number
  /** For each turn the place of its first token among the tokens that the policy chose. */
  starts: readonly number[]
  /**
   * For each turn a key of the state that it was taken in: what the policy was shown since it spoke last (`observation`), or everything
   * that was said before (`history`).
   */
  states(anchor: 'observation' | 'history'): readonly string[]
}

/** Episodes of one task under the same weights, as estimators of advantages see them. All arrays have one entry for each episode. */
export interface AdvantageGroup {
  /** As shaped; `null` = masked. */
  rewards: GroupRewards
  /** Tokens that the policy chose; 0 where masked. */
  lengths: readonly number[]
  /** The reward of the greedy episode of the task: `null` = masked, absent = not played. */
  greedyReward?: number | null
  /** `null` = masked. */
  turns: readonly (EpisodeTurns | null)[]
  /** Rewards of the tokens that the policy chose: the outcome with the last one, and a divergence in the reward where it arises. */
  tokenRewards: readonly Float32Array[]
}

/** For each episode of a group one advantage, or one for each of its turns or tokens (`per` of the definition). Masked ones are not read. */
export type GroupAdvantages = readonly (number | ArrayLike<number>)[]

/** One group with what is expected of it; the checks that every definition passes begin from these. */
export interface AdvantageCase<Settings> {
  settings?: Settings
  rewards: GroupRewards
  /** Default 3 tokens each. */
  lengths?: readonly number[]
  /** Default 0.5. */
  greedyReward?: number | null
  /** Rewards of the turns of each episode. Default: one turn without a reward of its own. */
  turns?: readonly (readonly number[])[]
  /** Within 1e-5. Default: only what holds for every advantage is checked. */
  expected?: GroupAdvantages
}

interface AdvantageParts<Name extends string, Settings, Preset> extends About<Name> {
  readonly settings: NoInfer<SettingFields<Settings>>
  /** What arrays in its results have an entry for. Default `episode`: there are no arrays. */
  readonly per?: 'episode' | 'turn' | 'token'
  /** What it needs of the environment or the plan, in a few words. Default: several episodes of a task. */
  readonly needs?: string
  /** Whether rewards stand for success, so that a divergence in the reward is refused. Default false. */
  readonly nonNegative?: boolean
  readonly cases: readonly AdvantageCase<NoInfer<Settings>>[]
  readonly preset?: Preset
}

/** One whose statistics are of one group. */
export interface GroupAdvantage<Name extends string, Settings, Preset> extends AdvantageParts<
  Name,
  Settings,
  Preset
> {
  readonly over?: 'group'
  /** A pure function of numbers. */
  compute(group: AdvantageGroup, settings: Settings): GroupAdvantages
}

/** One whose statistics are of all groups of the batch, all minibatches together. */
export interface BatchAdvantage<Name extends string, Settings, Preset> extends AdvantageParts<
  Name,
  Settings,
  Preset
> {
  readonly over: 'batch'
  /** A pure function of numbers. */
  compute(groups: readonly AdvantageGroup[], settings: Settings): readonly GroupAdvantages[]
}

/** How rewards become advantages. See `defineAdvantage`. */
export type AdvantageDefinition<
  Name extends string = string,
  Settings = object,
  Preset = PartPreset | undefined,
> = { readonly kind: 'advantage' } & (
  | GroupAdvantage<Name, Settings, Preset>
  | BatchAdvantage<Name, Settings, Preset>
)

/**
 * Defines an advantage estimator. Pass your own to `defineAlgorithm`. Estimators listed in `definitions.ts` can be
 * selected by name in the settings of policy optimisation and appear in the tables of the docs; one with a `preset` is
 * also a value of `--algorithm`.
 *
 * @example
 * const median = defineAdvantage({
 *   name: 'median',
 *   about: 'less the median of the group',
 *   formula: 'R - median',
 *   settings: {},
 *   compute: ({ rewards }) => {
 *     const judged = rewards.filter((reward) => reward !== null).sort((a, b) => a - b)
 *     const middle = judged[Math.floor(judged.length / 2)]
 *     return rewards.map((reward) => (reward === null ? 0 : reward - middle))
 *   },
 *   cases: [{ rewards: [0, 0.5, 1], expected: [-0.5, 0, 0.5] }],
 * })
 */
export function defineAdvantage<
  const Name extends string,
  Settings extends object = object,
  const Preset extends PartPreset | undefined = undefined,
>(
  definition: GroupAdvantage<Name, Settings, Preset>,
): { readonly kind: 'advantage' } & GroupAdvantage<Name, Settings, Preset>
export function defineAdvantage<
  const Name extends string,
  Settings extends object = object,
  const Preset extends PartPreset | undefined = undefined,
>(
  definition: BatchAdvantage<Name, Settings, Preset>,
): { readonly kind: 'advantage' } & BatchAdvantage<Name, Settings, Preset>
export function defineAdvantage(
  definition:
    | GroupAdvantage<string, object, PartPreset | undefined>
    | BatchAdvantage<string, object, PartPreset | undefined>,
): AdvantageDefinition {
  return { kind: 'advantage', ...definition }
}

// ---- Losses

/** Tokens with the expected result of the loss. The checks of every definition start from these settings. */
export interface LossCase<Settings> {
  settings?: Settings
  /** Default: tokens that the checks draw. */
  inputs?: Partial<TokenInputs>
  /** Expected value and gradient, within 1e-5. */
  value?: number
  gradient?: readonly number[]
}

interface LossParts<Name extends string, Settings, Preset> extends About<Name> {
  readonly settings: NoInfer<SettingFields<Settings>>
  /** A pure function of numbers: the weighted sum over the tokens and its gradient. */
  compute(inputs: TokenInputs, settings: Settings): LossValue
  /** The equivalent loss of a backend, if there is one. It saves a forward pass. */
  backend?(settings: NoInfer<Settings>): LossSettings | undefined
  /** Whether tokens with zero advantage have a gradient and so must be computed. Default: false. */
  readonly movesWithoutAdvantage?: boolean
  /**
   * Whether part of the value is treated as constant in the gradient (for instance a ratio that is only a weight). The
   * gradient is then not that of the value. It is checked only where policy and sampler agree, where it must be
   * `-weight * advantage`. Default: false.
   */
  stopsGradient?(settings: NoInfer<Settings>): boolean
  readonly cases: readonly LossCase<NoInfer<Settings>>[]
  readonly preset?: Preset
}

/** Turns advantages into a loss. See `defineLoss`. */
export type LossDefinition<
  Name extends string = string,
  Settings = object,
  Preset = PartPreset | undefined,
> = { readonly kind: 'loss' } & LossParts<Name, Settings, Preset>

/**
 * Defines a loss over tokens. Pass your own to `defineAlgorithm`. Losses listed in `definitions.ts` can be selected by
 * name in the settings of policy optimisation and appear in the tables of the docs; one with a `preset` is also a value
 * of `--algorithm`.
 *
 * @example
 * const plain = defineLoss({
 *   name: 'plain',
 *   about: 'REINFORCE',
 *   formula: '-A l',
 *   settings: {},
 *   compute: (inputs) => sumTokens(inputs, (_, advantage, difference) => ({
 *     loss: -advantage * difference,
 *     derivative: -advantage,
 *   })),
 *   cases: [{}],
 * })
 */
export function defineLoss<
  const Name extends string,
  Settings extends object = object,
  const Preset extends PartPreset | undefined = undefined,
>(definition: LossParts<Name, Settings, Preset>): LossDefinition<Name, Settings, Preset> {
  return { kind: 'loss', ...definition }
}

// ---- Preference losses

interface PreferenceParts<Name extends string, Settings> extends About<Name> {
  readonly settings: NoInfer<SettingFields<Settings>>
  /**
   * What the numbers of a pair are: log-probabilities summed over an answer's tokens, their means, or reward-model
   * scores.
   */
  readonly of: 'sums' | 'means' | 'scores'
  /** Whether it uses log-probabilities under a reference. */
  readonly usesReference: boolean
  /** A pure function of numbers: the weighted sum over the pairs and its gradients. */
  compute(pairs: PreferencePairs, settings: Settings): PreferenceValue
  readonly cases: readonly { settings?: NoInfer<Settings> }[]
}

/** A loss over pairs of a chosen and a rejected answer. */
export type PreferenceDefinition<Name extends string = string, Settings = object> = {
  readonly kind: 'preference'
} & PreferenceParts<Name, Settings>

/**
 * Defines a loss over pairs of answers. Losses listed in `definitions.ts` appear in the table of the docs and are
 * checked like the others.
 */
export function definePreference<const Name extends string, Settings extends object = object>(
  definition: PreferenceParts<Name, Settings>,
): PreferenceDefinition<Name, Settings> {
  return { kind: 'preference', ...definition }
}

/** The settings of a definition with its name, as in JSON. */
export type SettingsOf<Definition> = Definition extends {
  readonly name: infer Name
  compute: (data: never, settings: infer Settings) => unknown
}
  ? [keyof Settings] extends [never]
    ? { name: Name }
    : { name: Name } & Settings
  : never

/** Names of the definitions that have a preset. */
export type PresetNameOf<Definition> = Definition extends {
  readonly name: infer Name extends string
  readonly preset?: infer Preset
}
  ? PartPreset extends Preset
    ? never
    : [Exclude<Preset, undefined>] extends [never]
      ? never
      : Name
  : never
