export { trainAgent } from './train-agent.ts'
export type { AgentStep, PlayedStep, TrainAgentOptions, TrainedAgent } from './train-agent.ts'
