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
export { cartPole } from './classic/environments/control/index.ts'
export { choiceCounts, forbiddenChoice, sampleMaskOf } from './classic/environment/action-masks.ts'
export type { AnyVector } from './classic/environment/any-vector.ts'
export { contextRow } from './classic/environment/context.ts'
export type { Context, ContextFeature, ContextSpace } from './classic/environment/context.ts'
export { contextSampler, contextSetsOf, fixedContexts } from './classic/environment/context-sets.ts'
export type { ContextFor, ContextSamplerOptions, ContextSet } from './classic/environment/context-sets.ts'
export { finiteModel, outcomesOf, sampleCategorical } from './classic/environment/finite-model.ts'
export type { FiniteModel, Outcome } from './classic/environment/finite-model.ts'
export { finiteEnvironment } from './classic/environment/finite-environment.ts'
export type { FiniteDefinition } from './classic/environment/finite-environment.ts'
export { requireSameStep } from './classic/environment/same-step.ts'
export {
  box,
  discrete,
  hasIntegers,
  multiBinary,
  multiDiscrete,
  rowSize,
} from './classic/environment/space.ts'
export type {
  ArraySpace,
  BoxSpace,
  DictSpace,
  DiscreteSpace,
  Member,
  MultiBinarySpace,
  MultiDiscreteSpace,
  SequenceSpace,
  Space,
  TextSpace,
  TupleSpace,
} from './classic/environment/space.ts'
export { createVectorEnvironment } from './classic/environment/vector.ts'
export type {
  Autoreset,
  VectorEnvironment,
  VectorOptions,
  VectorState,
} from './classic/environment/vector.ts'
export { visibleContext } from './classic/environment/visible-context.ts'
export { fastStream } from './classic/environment/environment-random.ts'
export type { EnvironmentStream } from './classic/environment/environment-random.ts'
export { defineEnvironment } from './classic/environment/definition.ts'
export type {
  DrawnShape,
  Drawing,
  EnvArrays,
  BatchedDefinition,
  EnvironmentDefinition,
  EnvironmentRandom,
} from './classic/environment/definition.ts'
export { numpyEnvStream, numpyStream } from './classic/environment/numpy-stream.ts'
export type { NumpyStream } from './classic/environment/numpy-stream.ts'
export { dict, sequence, text, tuple } from './classic/environment/space-composite.ts'
export { contains, explainMismatch } from './classic/environment/space-contains.ts'
export { describeSpace } from './classic/environment/space-describe.ts'
export { flatSize, flatSpace, flatten, unflatten } from './classic/environment/space-flatten.ts'
export { readRow, writeRow } from './classic/environment/space-rows.ts'
export type { NumberArray } from './classic/environment/space-rows.ts'
export { sampleSpace, seededSampler } from './classic/environment/space-sample.ts'
export type { SampleMask, SampleRandom } from './classic/environment/space-sample.ts'
export { asyncVectorFrom } from './classic/environment/async-vector-from.ts'
export type { AsyncVectorEnvironment, AsyncVectorOptions } from './classic/environment/async-vector-from.ts'
export { isEnvironmentDefinition, openVector } from './classic/environment/open-vector.ts'
export type {
  AnyEnvironment,
  EnvironmentFactory,
  OpenedVector,
  Playable,
} from './classic/environment/open-vector.ts'
export { createEnvironment } from './classic/environment/create-environment.ts'
export type { EnvironmentOptions, DefinedEnvironment } from './classic/environment/create-environment.ts'
export type {
  AsyncEnvironment,
  CallOptions,
  Environment,
  Info,
  ResetOptions,
  ResetResult,
  StepResult,
} from './classic/environment/environment.ts'
export type { ObjectVectorOptions } from './classic/environment/object-envs.ts'
export { vectorFrom } from './classic/environment/vector-from.ts'
export type { ObjectVector } from './classic/environment/vector-from.ts'
export { frameStack } from './classic/environment/wrappers/frame-stack.ts'
export { checkActionsOf, writeActions } from './classic/environment/wrappers/check-actions-of.ts'
export { normaliseObservations } from './classic/environment/wrappers/normalise-observations.ts'
export { normaliseRewards } from './classic/environment/wrappers/normalise-rewards.ts'
export { recordEpisodes } from './classic/environment/wrappers/record-episodes.ts'
export type { ArrayEpisode } from './classic/environment/wrappers/record-episodes.ts'
export { createRunningMeanStd } from './classic/environment/wrappers/running-mean-std.ts'
export type { RunningMeanStd } from './classic/environment/wrappers/running-mean-std.ts'
export { startAt } from './classic/environment/wrappers/start-at.ts'
export { timeLimit } from './classic/environment/wrappers/time-limit.ts'
export {
  clipActions,
  clipObservations,
  clipRewards,
  rescaleActions,
  transformActions,
  transformObservations,
  transformRewards,
} from './classic/environment/wrappers/transform.ts'
export type { WriteRow } from './classic/environment/wrappers/wrap-observations.ts'
export {
  createMultiAgentVector,
  createParallelEnvironment,
  defineMultiAgentEnvironment,
  invalidMove,
  parallelOf,
  turnsOf,
} from './classic/environment/multi-agent/index.ts'
export type {
  AgentArrays,
  ByAgent,
  MultiAgentVector,
  MultiAgentDefinition,
  ParallelEnvironment,
  ParallelReset,
  ParallelStep,
  Turn,
  TurnEnvironment,
  DefinedParallelEnvironment,
} from './classic/environment/multi-agent/index.ts'
export {
  animatePng,
  animateSvg,
  drawEnv,
  overFrame,
  rasterise,
  renderPng,
  renderSvg,
  renderTerminal,
  renderText,
} from './classic/environment/render/index.ts'
export type {
  Image,
  PngOptions,
  Rendered,
  SvgOptions,
  TerminalOptions,
} from './classic/environment/render/index.ts'
export {
  checkEnvironment,
  requireDefinition,
  findFaults,
} from './classic/environment/check/check-environment.ts'
export type { CheckOptions } from './classic/environment/check/check-environment.ts'
export type { Finding } from './classic/environment/check/finding.ts'
