export type { CreditFunction, CreditReport, EpisodeCredit } from './credit-function.ts'
export { optimisePolicy } from './optimise-policy.ts'
export type { PolicyOptimisation } from './optimise-policy.ts'
export { findPolicyPreset, policyPresets } from './presets.ts'
export type { PolicyPreset, PolicyPresetName } from './presets.ts'
export type {
  AdaptiveEntropy,
  AdvantageSettings,
  KlSettings,
  PolicyLossSettings,
  PolicySettings,
  RewardShaping,
  TurnAdvantageSettings,
} from './settings.ts'
