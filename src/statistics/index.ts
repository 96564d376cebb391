/** Intervals, bootstrap and other statistics of experiments. */
export {
  stratifiedInterquartileMean,
  intervalText,
  meanInterval,
  pairedDifference,
  groupedWilsonInterval,
  wilsonInterval,
  studentQuantile,
  studentTail,
  rankCorrelation,
  interquartileMean,
  average,
  quantile,
} from './statistics.ts'
export type { BootstrapSettings, Estimate, MeanEstimate, NoInterval, IntervalSettings } from './statistics.ts'
export { hierarchicalInterval, holmAdjusted } from './hierarchical.ts'
export type { HierarchicalEstimate, HierarchicalValue } from './hierarchical.ts'
export { anytimeInterval } from './anytime.ts'
export type { AnytimeInterval, AnytimeSequence, AnytimeSettings } from './anytime.ts'
export { gaussianProcess } from './gaussian-process.ts'
export type { Belief, GaussianProcessOptions } from './gaussian-process.ts'
export { cohenKappa, pairsNeeded } from './agreement.ts'
export type { Agreement, AgreementCounts, RatedPair } from './agreement.ts'
