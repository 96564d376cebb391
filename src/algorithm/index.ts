export {
  gae,
  grpoAdvantages,
  isUniform,
  maxrlAdvantages,
  reinforcePlusPlusAdvantages,
  rlooAdvantages,
} from './advantages/index.ts'
export type { GaeSettings, GaeSteps, GroupRewards, GrpoAdvantageSettings } from './advantages/index.ts'
export { grpo } from './grpo.ts'
export type { GrpoSettings } from './grpo.ts'
export {
  cispoLoss,
  crossEntropyLoss,
  importanceSamplingLoss,
  klLoss,
  ppoLoss,
  tokenWeights,
} from './losses/index.ts'
export type {
  Aggregation,
  CispoSettings,
  KlEstimator,
  LossInputs,
  LossValue,
  PpoSettings,
} from './losses/index.ts'
export { supervised } from './supervised.ts'
export { trainedTokens } from './trained-tokens.ts'
export type { Algorithm, EpisodeGroup, PolicyUpdate } from './types.ts'
