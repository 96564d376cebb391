export { imitate, trainAgent } from './agents/index.ts'
export type { AgentStep, ImitateOptions, TrainAgentOptions } from './agents/index.ts'
export { datasetRows, writeDataset } from './datasets/index.ts'
export type { DatasetKind, DatasetMessage, DatasetOptions, DatasetRow } from './datasets/index.ts'
export { smallModelPlan } from './defaults.ts'
export type { OnTrainingEvent, TrainingEvent } from './events.ts'
export { trainJob } from './loop.ts'
export { train } from './train.ts'
export type { TrainOptions } from './train.ts'
export { checkNewRun, openRunFolder } from './run-folder.ts'
export type { RunFolder, RunFolderOptions } from './run-folder.ts'
export type {
  MetricsRecord,
  OptimiserSettings,
  ReinforcementSettings,
  ReportInput,
  SampleEpisode,
  SampleMessage,
  StageName,
  StageSummary,
  SupervisedSettings,
  TrainableBackend,
  TrainingPlan,
  TrainingSummary,
  TrainJobOptions,
} from './types.ts'
