export { adaptKlCoefficient, klRewards } from './advantages/kl-rewards.ts'
export { archerAdvantages, archerTargets } from './advantages/archer.ts'
export { batchGrpoAdvantages } from './advantages/batch-grpo.ts'
export { cutSegments, segmentAdvantages, spreadOverTokens } from './advantages/segment-level.ts'
export { distillationAdvantages } from './advantages/distillation.ts'
export { expertMembers } from './advantages/expert-iteration.ts'
export { gae } from '../../returns/gae.ts'
export { grpoAdvantages } from './advantages/grpo.ts'
export { informativeGroups } from './advantages/dynamic-sampling.ts'
export { isUniform } from './advantages/group.ts'
export {
  kimiLengthRewards,
  maskOverlong,
  relativeLengthPenalty,
  softOverlongPenalty,
} from './advantages/length.ts'
export { maxAtKAdvantages } from './advantages/max-at-k.ts'
export { maxrlAdvantages } from './advantages/maxrl.ts'
export { opoAdvantages } from './advantages/opo.ts'
export { passAtKAdvantages } from './advantages/pass-at-k.ts'
export { reinforcePlusPlusAdvantages } from './advantages/reinforce-plus-plus.ts'
export { reinforcePlusPlusBaselineAdvantages } from './advantages/reinforce-plus-plus-baseline.ts'
export { remaxAdvantages } from './advantages/remax.ts'
export { repetitionPenalty } from './advantages/repetition.ts'
export { rlooAdvantages } from './advantages/rloo.ts'
export { stepGroupAdvantages } from './advantages/step-group.ts'
export { stepProgressLoss, stepProgressRewards } from './advantages/step-progress.ts'
export { turnLevelAdvantages } from './advantages/turn-level.ts'
export { turnReturnAdvantages } from './advantages/turn-return.ts'
export type { ArcherSteps } from './advantages/archer.ts'
export type { ExpertSettings } from './advantages/expert-iteration.ts'
export type { GaeSettings, GaeSteps } from '../../returns/gae.ts'
export type { GroupRewards } from './advantages/group.ts'
export type { GrpoAdvantageSettings } from './advantages/grpo.ts'
export type { StepGroupSettings, StepRecord } from './advantages/step-group.ts'
export type { TurnRewards } from './advantages/turn-level.ts'
export { grpo } from './grpo.ts'
export type { GrpoSettings } from './grpo.ts'
export {
  adaptEntropyCoefficient,
  entropies,
  entropyLoss,
  highEntropyMask,
  sampledEntropyLoss,
} from './losses/entropy.ts'
export { cispoLoss } from './losses/cispo.ts'
export { combineLosses, highEntropyWeights } from './losses/mixed.ts'
export { crossEntropyLoss } from './losses/cross-entropy.ts'
export { distillationLoss } from './losses/distillation.ts'
export { dppoLoss } from './losses/dppo.ts'
export { gspoLoss } from './losses/gspo.ts'
export { importanceSamplingLoss } from './losses/importance-sampling.ts'
export { importanceWeights } from './losses/importance-weights.ts'
export { kimiLoss } from './losses/kimi.ts'
export { klLoss } from './losses/kl.ts'
export { offPolicyMask } from './losses/off-policy-mask.ts'
export { ppoLoss } from './losses/ppo.ts'
export { sapoLoss } from './losses/sapo.ts'
export { tokenWeights } from './losses/aggregate.ts'
export { toprLoss } from './losses/topr.ts'
export { unbiasedKlLoss } from './losses/unbiased-kl.ts'
export { valueLoss } from './losses/value.ts'
export type { Aggregation } from './losses/aggregate.ts'
export type { CispoSettings } from './losses/cispo.ts'
export type { DppoSettings } from './losses/dppo.ts'
export type { GspoSettings } from './losses/gspo.ts'
export type { ImportanceSettings, MismatchInputs } from './losses/importance-weights.ts'
export type { KimiSettings } from './losses/kimi.ts'
export type { KlEstimator } from './losses/kl.ts'
export type {
  LogitInputs,
  LogitLossValue,
  LossInputs,
  LossValue,
  SequenceLossInputs,
} from './losses/types.ts'
export type { PpoSettings } from './losses/ppo.ts'
export type { SapoSettings } from './losses/sapo.ts'
export type { Taper, ToprSettings } from './losses/topr.ts'
export { overTokens } from './over-tokens.ts'
export type { TokenInputs, TokenLoss } from './over-tokens.ts'
export { findPolicyPreset, policyPresets } from './policy-optimisation/presets.ts'
export { optimisePolicy } from './policy-optimisation/optimise-policy.ts'
export type {
  AdaptiveEntropy,
  AdvantageSettings,
  KlSettings,
  PolicyLossSettings,
  PolicySettings,
  RewardShaping,
  TurnAdvantageSettings,
} from './policy-optimisation/settings.ts'
export type {
  AdvantageFunction,
  AdvantageReport,
  EpisodeAdvantage,
} from './policy-optimisation/advantage-function.ts'
export type { PolicyOptimisation } from './policy-optimisation/optimise-policy.ts'
export type { PolicyPreset, PolicyPresetName } from './policy-optimisation/presets.ts'
export { bestOf, bestOfKl, expectedBestOf } from './preference/best-of-n.ts'
export { bradleyTerryLoss } from './preference/bradley-terry.ts'
export { dpoLoss } from './preference/dpo.ts'
export { ipoLoss } from './preference/ipo.ts'
export { ktoLoss, ktoReference } from './preference/kto.ts'
export { onlinePairs } from './preference/online-pairs.ts'
export { orpoLoss } from './preference/orpo.ts'
export { processRewardLoss } from './preference/process-reward.ts'
export { simpoLoss } from './preference/simpo.ts'
export type { DpoSettings } from './preference/dpo.ts'
export type { JudgedAnswers, KtoSettings } from './preference/kto.ts'
export type { Pair } from './preference/online-pairs.ts'
export type { PreferencePairs, PreferenceValue } from './preference/types.ts'
export type { ScoredPairs } from './preference/bradley-terry.ts'
export { supervised } from './supervised.ts'
export { trainedTokens } from './trained-tokens.ts'
export type {
  Algorithm,
  BatchSettings,
  EpisodeGroup,
  LearningContext,
  PolicyUpdate,
  ScoredSequence,
} from './types.ts'
