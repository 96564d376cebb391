export { imitate } from './imitate.ts'
export type { ImitateOptions } from './imitate.ts'
export { trainAgent } from './train-agent.ts'
export type { AgentStep, TrainAgentOptions } from './train-agent.ts'
