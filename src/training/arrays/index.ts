export type { BonusSettings } from './bonus-settings.ts'
export {
  checkContexts,
  evaluationContexts,
  evaluationSets,
  noContexts,
  trainingContexts,
} from './context-settings.ts'
export type { ContextSettings, EvaluationContexts, EvaluationSet } from './context-settings.ts'
export { checkActions, checkStep } from './check-step.ts'
export { cutOffAfter, cutOffNote, evaluateAgent } from './evaluate-agent.ts'
export type { EvaluateAgentOptions, Played } from './evaluate-agent.ts'
export { algorithmsFor, findRun, findWorld, openWorldNamed } from './find.ts'
export type { FoundRun } from './find.ts'
export { findNamed } from './find-named.ts'
export { learnUntil } from './learn-until.ts'
export type { LearnUntilOptions } from './learn-until.ts'
export { loadAgent } from './load-agent.ts'
export type { LoadedAgent } from './load-agent.ts'
export { estimateText, resultLine, returnText, seedsLine } from './result-line.ts'
export { readConfig } from './run-record.ts'
export type { NamedRun, SeedsSummary, TrainSeedsOptions } from './seeds-types.ts'
export { trainArray } from './train-array.ts'
export { trainNamed } from './train-named.ts'
export type { TrainNamedOptions } from './train-named.ts'
export { trainSeeds } from './train-seeds.ts'
export type {
  ArrayResult,
  ArraySummary,
  ArrayTrainOptions,
  Evaluation,
  EvaluationSettings,
  SetEvaluation,
} from './types.ts'
export { turn } from './turn.ts'
export { isWorldFile, readWorldFile, worldFileOf } from './world-file.ts'
export type { WorldFile } from './world-file.ts'
export { arrayWorlds } from '../../worlds/array-worlds.ts'
