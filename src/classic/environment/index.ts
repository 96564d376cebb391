export { choiceCounts, forbiddenChoice, sampleMaskOf } from './action-masks.ts'
export type { AnyVector, Autoreset, VectorEnvironment, VectorOptions, VectorState } from './vector.ts'
export {
  contextRow,
  contextColumns,
  readContext,
  writeContext,
  contextSampler,
  contextSetsOf,
  fixedContexts,
} from './context.ts'
export type {
  Context,
  ContextColumns,
  ContextFeature,
  ContextSpace,
  ContextFor,
  ContextSamplerOptions,
  ContextSet,
} from './context.ts'
export { finiteModel, outcomesOf, sampleCategorical, finiteEnvironment } from './finite-model.ts'
export type { FiniteModel, TransitionOutcome, FiniteDefinition } from './finite-model.ts'
export { requireSameStep, createVectorEnvironment } from './vector.ts'
export {
  box,
  discrete,
  hasIntegers,
  multiBinary,
  multiDiscrete,
  rowSize,
  dict,
  sequence,
  text,
  tuple,
  describeSpace,
  contains,
  explainMismatch,
} from './space.ts'
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
export { visibleContext } from './visible-context.ts'
export { fastStream, numpyEnvStream, numpyStream } from './environment-random.ts'
export type { EnvironmentStream, NumpyStream } from './environment-random.ts'
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
export { flatSize, flatSpace, flatten, unflatten, readRow, writeRow } from './space-values.ts'
export type { NumberArray } from './space-values.ts'
export { sampleSpace, seededSampler } from './space-sample.ts'
export type { SampleMask, SampleRandom } from './space-sample.ts'
export { asyncVectorFrom } from './async-vector-from.ts'
export type { AsyncVectorEnvironment, AsyncVectorOptions } from './async-vector-from.ts'
export { isEnvironmentDefinition, openVector } from './open-vector.ts'
export type { AnyEnvironment, EnvironmentFactory, OpenedVector, Playable } from './open-vector.ts'
export { createEnvironment } from './environment.ts'
export type {
  EnvironmentOptions,
  DefinedEnvironment,
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
export {
  frameStack,
  clipActions,
  clipObservations,
  clipRewards,
  rescaleActions,
  transformActions,
  transformObservations,
  transformRewards,
} from './wrappers/transform.ts'
export { checkActionsOf, writeActions } from './wrappers/check-actions-of.ts'
export { normaliseObservations, normaliseRewards, createRunningMeanStd } from './wrappers/normalise.ts'
export { recordEpisodes, startAt, timeLimit } from './wrappers/episodes.ts'
export type { ArrayEpisode } from './wrappers/episodes.ts'
export type { RunningMeanStd } from './wrappers/normalise.ts'
export type { WriteRow } from './wrappers/wrap-vector.ts'
export {
  independentAgents,
  wholeEpisodes,
  createMultiAgentVector,
  defineMultiAgentEnvironment,
} from './multi-agent.ts'
export type { AgentArrays, MultiAgentDefinition, MultiAgentVector } from './multi-agent.ts'
export { animatePng, renderPng } from './render/png.ts'
export { animateSvg, renderSvg } from './render/svg.ts'
export { drawEnv, renderText, renderTerminal } from './render/render.ts'
export { rasterise } from './render/rasterise.ts'
export type { Image } from './render/rasterise.ts'
export type { PngOptions } from './render/png.ts'
export type { Rendered, TerminalOptions } from './render/render.ts'
export type { SvgOptions } from './render/svg.ts'
export { checkEnvironment, requireDefinition, findFaults } from './check/check-environment.ts'
export type { CheckEnvironmentOptions } from './check/check-environment.ts'
export type { Finding } from './check/finding.ts'
