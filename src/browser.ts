/**
 * Classic RL in a page or its worker: environments, algorithms and training loops that need nothing of Node. Any bundler for
 * browsers takes it; programs run on `onnxruntime-web`, which has to be installed beside it.
 */
export { AgogeError } from './error.ts'
export type { AgogeErrorDetails } from './error.ts'
export { classicAlgorithms } from './classic/algorithms.ts'
export { ppo, ppoPresets } from './classic/algorithm/on-policy/ppo.ts'
export type { ClassicAgent, ClassicAlgorithm } from './classic/algorithm/agent.ts'
export type { PpoConfig } from './classic/algorithm/on-policy/ppo.ts'
export type { Estimate, MeanEstimate, NoInterval } from './statistics/intervals.ts'
export { meanInterval } from './statistics/intervals.ts'
export { evaluateAgent } from './classic/training/evaluate-agent.ts'
export type { EvaluateAgentOptions, Played } from './classic/training/evaluate-agent.ts'
export { learnUntil } from './classic/training/learn-until.ts'
export type { LearnUntilOptions } from './classic/training/learn-until.ts'
export { classicEnvironments } from './classic/environments/catalogue.ts'
export { cartPole } from './classic/environments/control/cart-pole.ts'
export * from './classic/environment/index.ts'
