export { stratifiedInterquartileMean } from './bootstrap.ts'
export type { BootstrapSettings } from './bootstrap.ts'
export { compareSuccess } from './compare.ts'
export { gaussianProcess } from './gaussian-process.ts'
export type { Belief, GaussianProcessOptions } from './gaussian-process.ts'
export { intervalText } from './interval.ts'
export type { Estimate, MeanEstimate, NoInterval } from './interval.ts'
export { meanInterval, pairedDifference } from './mean-interval.ts'
export type { IntervalSettings } from './mean-interval.ts'
export { interquartileMean, mean, quantile } from './statistics.ts'
export { addReasons, countReasons, isJudged, reasonsText, summariseEpisodes } from './summarise.ts'
export type { EpisodeSummary } from './summarise.ts'
export { groupedWilsonInterval, wilsonInterval } from './wilson.ts'
export { probabilityOfImprovement } from './improvement.ts'
export { rankCorrelation } from './rank-correlation.ts'
export { definePaper, judge, paperResult, renderGallery, runPaper } from './papers/index.ts'
export type {
  Arm,
  ArmRun,
  Comparison,
  Expectation,
  Judgement,
  Paper,
  PaperJob,
  PaperResult,
  PaperRunOptions,
  PaperScores,
  Verdict,
} from './papers/index.ts'
