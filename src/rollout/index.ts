export { demonstrateAgent, rolloutAgent } from './agents/index.ts'
export type {
  AgentContext,
  AgentModel,
  AgentProgram,
  AgentRolloutOptions,
  AgentTask,
  AgentVerdict,
  Teacher,
} from './agents/index.ts'
export { bestOfCurve, bestOfGroups } from './best-of.ts'
export type { BestOfGroups } from './best-of.ts'
export { evaluatePolicy, rolloutGroups } from './collect.ts'
export type { RolloutSettings } from './collect.ts'
export { demonstrate, isDemonstration, playDemonstrations, unstableTools } from './demonstrate.ts'
export type { CallCounts, DemonstrationSettings } from './demonstrate.ts'
export { createTaskSampler, learningWeight } from './task-sampler.ts'
export type { TaskSampler, TaskSamplerSettings, TaskSamplerState } from './task-sampler.ts'
export { heldOutTasks } from './held-out.ts'
export { answerSequence, creditedSequence, imitationSequence, sampleAnswers } from './sample-answers.ts'
export type { SampledAnswer, Scorer } from './sample-answers.ts'
export { segmentCredits } from './segment-credits.ts'
export type { SegmentSettings } from './segment-credits.ts'
