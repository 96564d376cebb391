/**
 * Classic RL in a web page or a worker: environments, algorithms and training loops that do not need Node.
 * Works with any bundler. Install `onnxruntime-web` beside it; the networks run on it.
 */
export { AgogeError } from './error.ts'
export type { AgogeErrorDetails } from './error.ts'
export { classicAlgorithms } from './classic/algorithms.ts'
export { ppo, ppoPresets } from './classic/algorithm/on-policy/ppo.ts'
export type { ClassicAgent, ClassicAlgorithm } from './classic/algorithm/agent.ts'
export type { PpoConfig } from './classic/algorithm/on-policy/ppo.ts'
export type { Estimate, MeanEstimate, NoInterval } from './statistics/statistics.ts'
export { meanInterval } from './statistics/statistics.ts'
export { evaluateAgent } from './classic/training/evaluate-agent.ts'
export type { EvaluateAgentOptions, Played } from './classic/training/evaluate-agent.ts'
export { learnUntil } from './classic/training/learn-until.ts'
export type { LearnUntilOptions } from './classic/training/learn-until.ts'
export { classicEnvironments } from './classic/environments/catalogue.ts'
export { cartPole } from './classic/environments/control/cart-pole.ts'
export { loadMujoco } from './classic/environments/mujoco/physics.ts'
export type { MujocoModule } from './classic/environments/mujoco/physics.ts'
export * from './classic/environment/index.ts'
