export { choiceCounts, forbiddenChoice, sampleMaskOf } from './action-masks.ts'
export type { AnyVector } from './any-vector.ts'
export { contextRow, contextColumns, readContext, writeContext } from './context.ts'
export type { Context, ContextColumns, ContextFeature, ContextSpace } from './context.ts'
export { contextSampler, contextSetsOf, fixedContexts } from './context-sets.ts'
export type { ContextFor, ContextSamplerOptions, ContextSet } from './context-sets.ts'
export { finiteModel, outcomesOf, sampleCategorical } from './finite-model.ts'
export type { FiniteModel, Outcome } from './finite-model.ts'
export { finiteEnvironment } from './finite-environment.ts'
export type { FiniteDefinition } from './finite-environment.ts'
export { requireSameStep } from './same-step.ts'
export { box, discrete, hasIntegers, multiBinary, multiDiscrete, rowSize } from './space.ts'
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
} from './space.ts'
export { createVectorEnvironment } from './vector.ts'
export type { Autoreset, VectorEnvironment, VectorOptions, VectorState } from './vector.ts'
export { visibleContext } from './visible-context.ts'
export { fastStream } from './environment-random.ts'
export type { EnvironmentStream } from './environment-random.ts'
export { defineEnvironment } from './definition.ts'
export type {
  DrawnShape,
  Drawing,
  EnvArrays,
  BatchedDefinition,
  EnvironmentDefinition,
  EnvironmentRandom,
  EnvironmentSource,
} from './definition.ts'
export { numpyEnvStream, numpyStream } from './numpy-stream.ts'
export type { NumpyStream } from './numpy-stream.ts'
export { dict, sequence, text, tuple } from './space-composite.ts'
export { contains, explainMismatch } from './space-contains.ts'
export { describeSpace } from './space-describe.ts'
export { flatSize, flatSpace, flatten, unflatten } from './space-flatten.ts'
export { readRow, writeRow } from './space-rows.ts'
export type { NumberArray } from './space-rows.ts'
export { sampleSpace, seededSampler } from './space-sample.ts'
export type { SampleMask, SampleRandom } from './space-sample.ts'
export { asyncVectorFrom } from './async-vector-from.ts'
export type { AsyncVectorEnvironment, AsyncVectorOptions } from './async-vector-from.ts'
export { isEnvironmentDefinition, openVector } from './open-vector.ts'
export type { AnyEnvironment, EnvironmentFactory, OpenedVector, Playable } from './open-vector.ts'
export { createEnvironment } from './create-environment.ts'
export type { EnvironmentOptions, DefinedEnvironment } from './create-environment.ts'
export type {
  AsyncEnvironment,
  CallOptions,
  Environment,
  Info,
  ResetOptions,
  ResetResult,
  StepResult,
} from './environment.ts'
export type { ObjectVectorOptions } from './object-envs.ts'
export { vectorFrom } from './vector-from.ts'
export type { ObjectVector } from './vector-from.ts'
export { frameStack } from './wrappers/frame-stack.ts'
export { checkActionsOf, writeActions } from './wrappers/check-actions-of.ts'
export { normaliseObservations } from './wrappers/normalise-observations.ts'
export { normaliseRewards } from './wrappers/normalise-rewards.ts'
export { recordEpisodes } from './wrappers/record-episodes.ts'
export type { ArrayEpisode } from './wrappers/record-episodes.ts'
export { createRunningMeanStd } from './wrappers/running-mean-std.ts'
export type { RunningMeanStd } from './wrappers/running-mean-std.ts'
export { startAt } from './wrappers/start-at.ts'
export { timeLimit } from './wrappers/time-limit.ts'
export {
  clipActions,
  clipObservations,
  clipRewards,
  rescaleActions,
  transformActions,
  transformObservations,
  transformRewards,
} from './wrappers/transform.ts'
export type { WriteRow } from './wrappers/wrap-observations.ts'
export { createMultiAgentVector, defineMultiAgentEnvironment } from './multi-agent.ts'
export type { AgentArrays, MultiAgentDefinition, MultiAgentVector } from './multi-agent.ts'
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
} from './render/index.ts'
export type { Image, PngOptions, Rendered, SvgOptions, TerminalOptions } from './render/index.ts'
export { checkEnvironment, requireDefinition, findFaults } from './check/check-environment.ts'
export type { CheckOptions } from './check/check-environment.ts'
export type { Finding } from './check/finding.ts'
