/** Advantages, losses and preference losses as pure functions over arrays. */
export { advantages, losses, preferenceLosses } from '../catalogue.ts'
export { checkDefinition } from '../check-definition.ts'
export { defineAdvantage, defineLoss, definePreference } from '../define.ts'
export type {
  AdvantageDefinition,
  AdvantageGroup,
  EpisodeTurns,
  LossDefinition,
  PreferenceDefinition,
} from '../define.ts'
export {
  archerAdvantages,
  archerTargets,
  cutSegments,
  segmentAdvantages,
  spreadOverTokens,
  stepProgressLoss,
  stepProgressRewards,
  valueLoss,
} from '../advantages/critics.ts'
export type { ArcherSteps } from '../advantages/critics.ts'
export { batchGrpoAdvantages, grpoAdvantages } from '../advantages/grpo.ts'
export {
  distillationAdvantages,
  crossEntropyLoss,
  distillationLoss,
  combineLosses,
  highEntropyWeights,
} from './imitation.ts'
export { informativeGroups, expertMembers, isUniform } from '../advantages/group.ts'
export type { ExpertSettings, GroupRewards } from '../advantages/group.ts'
export type { GrpoAdvantageSettings } from '../advantages/grpo.ts'
export {
  adaptKlCoefficient,
  klRewards,
  kimiLengthRewards,
  maskOverlong,
  relativeLengthPenalty,
  softOverlongPenalty,
  repetitionPenalty,
} from '../advantages/reward-shaping.ts'
export { maxAtKAdvantages, passAtKAdvantages } from '../advantages/best-of-k.ts'
export { maxrlAdvantages, opoAdvantages, remaxAdvantages, rlooAdvantages } from '../advantages/baselines.ts'
export {
  reinforcePlusPlusBaselineAdvantages,
  reinforcePlusPlusAdvantages,
} from '../advantages/reinforce-plus-plus.ts'
export { stepGroupAdvantages, turnLevelAdvantages, turnReturnAdvantages } from '../advantages/turns.ts'
export type { StepGroupSettings, StepRecord, TurnRewards } from '../advantages/turns.ts'
export { countedSequences, sumTokens, tokenWeights } from './tokens.ts'
export type {
  Aggregation,
  LogitInputs,
  LogitLossValue,
  LossInputs,
  LossValue,
  SequenceLossInputs,
} from './tokens.ts'
export { cispoLoss } from './cispo.ts'
export type { CispoSettings } from './cispo.ts'
export { dppoLoss } from './dppo.ts'
export type { DppoSettings } from './dppo.ts'
export {
  adaptEntropyCoefficient,
  entropies,
  entropyLoss,
  highEntropyMask,
  sampledEntropyLoss,
  klLoss,
  unbiasedKlLoss,
} from './regularisers.ts'
export { gspoLoss } from './gspo.ts'
export type { GspoSettings } from './gspo.ts'
export { importanceSamplingLoss, ppoLoss } from './ppo.ts'
export { importanceWeights, offPolicyMask } from './corrections.ts'
export type { ImportanceSettings, MismatchInputs } from './corrections.ts'
export { kimiLoss } from './kimi.ts'
export type { KimiSettings } from './kimi.ts'
export type { KlEstimator } from './regularisers.ts'
export type { PpoSettings } from './ppo.ts'
export { sapoLoss } from './sapo.ts'
export type { SapoSettings } from './sapo.ts'
export { toprLoss } from './topr.ts'
export type { Taper, ToprSettings } from './topr.ts'
export { bestOf, bestOfKl, expectedBestOf, onlinePairs } from '../preference/choice.ts'
export { bradleyTerryLoss, processRewardLoss } from '../preference/reward-model.ts'
export type { ScoredPairs } from '../preference/reward-model.ts'
export { dpoLoss, ipoLoss, orpoLoss, simpoLoss } from '../preference/pairs.ts'
export type { DpoSettings, PreferencePairs, PreferenceValue } from '../preference/pairs.ts'
export { ktoLoss, ktoReference } from '../preference/kto.ts'
export type { JudgedAnswers, KtoSettings } from '../preference/kto.ts'
export type { Pair } from '../preference/choice.ts'
export { gae } from '../../../returns/advantages.ts'
export type { GaeSettings, GaeSteps } from '../../../returns/advantages.ts'
