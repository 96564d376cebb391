export { demonstrateAgent, rolloutAgent } from './rollout-agent.ts'
export type {
  AgentContext,
  AgentModel,
  AgentProgram,
  AgentRolloutOptions,
  AgentTask,
  AgentVerdict,
  Teacher,
} from './rollout-agent.ts'
