/** Learning from preferences: given ones, fresh ones, and models of rewards. */
export type { Course, CourseSettings, CourseStep, CourseValidation } from './course.ts'
export { episodeAnswer, episodePairs } from './from-episodes.ts'
export { kto } from './kto.ts'
export type { KtoMethodSettings } from './kto.ts'
export { judgedPairs, trainOnline } from './online.ts'
export type { FreshPairs, OnlineOptions, OnlineStep } from './online.ts'
export { dpo, ipo, orpo, simpo } from './pair-methods.ts'
export { stepScores, trainProcessReward } from './process-reward-model.ts'
export type { LabelledSteps, ProcessRewardModelOptions, SteppedAnswer } from './process-reward-model.ts'
export { learnRewards, rewardScores, trainRewardModel } from './reward-model.ts'
export type { RewardModelOptions } from './reward-model.ts'
export { learnPreferences, trainPreferences } from './train-preferences.ts'
export type { PreferenceTrainingOptions, ReadExample } from './train-preferences.ts'
export type {
  Answer,
  AnswerSums,
  LabelledAnswer,
  MethodLoss,
  PreferenceMethod,
  PreferencePair,
} from './types.ts'
export { verdict, verdictScores } from './verdict.ts'
export type { VerdictSettings } from './verdict.ts'
