export { contextRow } from './context.ts'
export type { Context, ContextFeature, ContextSpace } from './context.ts'
export { finiteModel, outcomesOf, sampleCategorical } from './finite-model.ts'
export type { FiniteModel, Outcome } from './finite-model.ts'
export { finiteWorld } from './finite-world.ts'
export type { FiniteWorld } from './finite-world.ts'
export { box, discrete, multiBinary, multiDiscrete, rowSize } from './space.ts'
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
export { fastStream } from './world-random.ts'
export type { WorldStream } from './world-random.ts'
export { defineWorld } from './world.ts'
export type { DrawnShape, Drawing, Slots, World, WorldRandom } from './world.ts'
