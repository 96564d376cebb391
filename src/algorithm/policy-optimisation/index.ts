export { optimisePolicy } from './optimise-policy.ts'
export { findPolicyPreset, policyPresets } from './presets.ts'
export type { PolicyPreset, PolicyPresetName } from './presets.ts'
export type {
  AdvantageSettings,
  KlSettings,
  PolicyLossSettings,
  PolicySettings,
  RewardShaping,
} from './settings.ts'
