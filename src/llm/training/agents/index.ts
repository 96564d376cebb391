export { fineTune } from '../fine-tune.ts'
export type { FineTuneOptions } from '../fine-tune.ts'
export { trainAgent } from './train-agent.ts'
export type { AgentStep, TrainAgentOptions } from './train-agent.ts'
