export { invalidMove } from './check-move.ts'
export { parallelOf, turnsOf } from './convert.ts'
export type {
  ByAgent,
  ParallelEnvironment,
  ParallelReset,
  ParallelStep,
  Turn,
  TurnEnvironment,
} from './environment.ts'
export { createParallelEnvironment } from './parallel.ts'
export type { DefinedParallelEnvironment } from './parallel.ts'
export { createMultiAgentVector } from './vector.ts'
export type { MultiAgentVector } from './vector.ts'
export { defineMultiAgentEnvironment } from './definition.ts'
export type { AgentArrays, MultiAgentDefinition } from './definition.ts'
