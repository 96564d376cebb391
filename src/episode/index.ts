export { decodeEpisode, encodeEpisode } from './codec.ts'
export { linearise } from './linearise.ts'
export type { SampleCredit } from './linearise.ts'
export { createReplay } from './replay.ts'
export type { Replay, ReplayBatch, ReplayOptions, ReplaySource } from './replay.ts'
export { appendEpisodes, appendLines, readEpisodes, readLines } from './store.ts'
export type { ToolCall } from './tool-call.ts'
export type {
  Ending,
  Episode,
  EpisodeNode,
  EpisodeReward,
  EpisodeSample,
  EpisodeStatus,
  SamplingSettings,
  TrainingSequence,
} from './types.ts'
export { turnRewards, utteranceRows } from './utterances.ts'
export type { Utterance } from './utterances.ts'
