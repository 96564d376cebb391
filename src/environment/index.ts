export { choiceCounts, forbiddenChoice, sampleMaskOf } from './action-masks.ts'
export type { AnyVector } from './any-vector.ts'
export { contextRow } from './context.ts'
export type { Context, ContextFeature, ContextSpace } from './context.ts'
export { contextSampler, contextSetsOf, fixedContexts } from './context-sets.ts'
export type { ContextFor, ContextSamplerOptions, ContextSet } from './context-sets.ts'
export { finiteModel, outcomesOf, sampleCategorical } from './finite-model.ts'
export type { FiniteModel, Outcome } from './finite-model.ts'
export { finiteWorld } from './finite-world.ts'
export type { FiniteWorld } from './finite-world.ts'
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
export { fastStream } from './world-random.ts'
export type { WorldStream } from './world-random.ts'
export { defineWorld } from './world.ts'
export type { DrawnShape, Drawing, Slots, TogetherWorld, World, WorldRandom } from './world.ts'
export { numpySlotStream, numpyStream } from './numpy-stream.ts'
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
export { isWorld, openVector } from './open-vector.ts'
export type { AnyEnvironment, EnvironmentFactory, OpenedVector, Playable } from './open-vector.ts'
export { createEnvironment } from './create-environment.ts'
export type { EnvironmentOptions, WorldEnvironment } from './create-environment.ts'
export type {
  AsyncEnvironment,
  CallOptions,
  Environment,
  Info,
  ResetOptions,
  ResetResult,
  StepResult,
} from './environment.ts'
export type { ObjectVectorOptions } from './object-slots.ts'
export { vectorFrom } from './vector-from.ts'
export type { ObjectVector } from './vector-from.ts'
export { frameStack } from './wrappers/frame-stack.ts'
export { guardActions, writeActions } from './wrappers/guard.ts'
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
export {
  createMultiAgentVector,
  createParallelEnvironment,
  defineMultiAgentWorld,
  invalidMove,
  parallelOf,
  turnsOf,
} from './multi-agent/index.ts'
export type {
  AgentSlots,
  ByAgent,
  MultiAgentVector,
  MultiAgentWorld,
  ParallelEnvironment,
  ParallelReset,
  ParallelStep,
  Turn,
  TurnEnvironment,
  WorldParallelEnvironment,
} from './multi-agent/index.ts'
export {
  animatePng,
  animateSvg,
  drawSlot,
  overFrame,
  rasterise,
  renderPng,
  renderSvg,
  renderTerminal,
  renderText,
} from './render/index.ts'
export type { Image, PngOptions, Rendered, SvgOptions, TerminalOptions } from './render/index.ts'
export { checkEnvironment, checkWorldDefinition, findFaults } from './check/check-environment.ts'
export type { CheckOptions } from './check/check-environment.ts'
export type { Finding } from './check/finding.ts'
