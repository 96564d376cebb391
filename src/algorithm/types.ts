import type { Episode, TrainingSequence } from '../episode/types.ts'
import type { LossSettings } from '../language/backend.ts'

/** Episodes of the same task under the same weights, with what the reward said of each; `null` = masked. */
export interface EpisodeGroup {
  episodes: readonly Episode[]
  rewards: readonly (number | null)[]
}

/** What the trainer is to do: one `forwardBackward` of these rows with this loss. */
export interface PolicyUpdate {
  sequences: TrainingSequence[]
  loss: LossSettings
  /** Figures of the batch, for the record. */
  metrics: Record<string, number>
}

/** Everything the loop knows of a learning algorithm. Pure: the same groups give the same update. */
export type Algorithm = (groups: readonly EpisodeGroup[]) => PolicyUpdate
