/**
 * The part of the library that runs in a page or its worker: worlds over arrays, their algorithms and the loop. With
 * `agoge/environment`, which needs nothing of Node either, any bundler for browsers can take it; the compiled programs run
 * on `onnxruntime-web`, which has to be installed beside it.
 */
export { AgogeError } from './error.ts'
export type { AgogeErrorDetails } from './error.ts'
export { arrayAlgorithms, ppo, ppoPresets } from './algorithm/arrays/index.ts'
export type { ArrayAgent, ArrayAlgorithm, PpoConfig } from './algorithm/arrays/index.ts'
// Single files, since the indices of these rooms also have what reads and writes files.
export type { Estimate, MeanEstimate, NoInterval } from './evaluation/interval.ts'
export { meanInterval } from './evaluation/mean-interval.ts'
export { evaluateAgent } from './training/arrays/evaluate-agent.ts'
export type { EvaluateAgentOptions, Played } from './training/arrays/evaluate-agent.ts'
export { learnUntil } from './training/arrays/learn-until.ts'
export type { LearnUntilOptions } from './training/arrays/learn-until.ts'
export { arrayWorlds } from './worlds/array-worlds.ts'
export { cartPole } from './worlds/classic/index.ts'
