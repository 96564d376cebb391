/** Rewards of language-model episodes. A reward scores one episode or a group, for training, evaluation and selection. */
export { readScore } from '../episode/score.ts'
export type { Score, Scored, Unscored } from '../episode/score.ts'
export { InfrastructureError } from '../tool/tool.ts'
export { judgeRanking, judgeReward } from './judge.ts'
export type { JudgeModel, JudgeUsage } from './ask-judge.ts'
export type { JudgeOptions, JudgeReward, RankingOptions } from './judge.ts'
export { recordedScore, score, scoreGroups } from './reward.ts'
export type { GroupReward, Reward, RewardContext, RewardFunction, ScoringOptions } from './reward.ts'
export {
  compose,
  judgedReward,
  knownReward,
  rankReward,
  rubricReward,
  stepReward,
  taskReward,
} from './rewards.ts'
export type { Criterion, StepAggregate, TaskRewardSettings } from './rewards.ts'
