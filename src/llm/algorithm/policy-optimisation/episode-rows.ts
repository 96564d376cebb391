import { toTrainingSequences } from '../../episode/training-sequences.ts'
import type { Episode, TrainingSequence } from '../../episode/types.ts'

/** A row of an episode, still without advantages, and which of the episode's trained tokens stand where. */
export interface EpisodeRow {
  sequence: TrainingSequence
  /** For each token its place among the trained tokens of the episode, in the order they were sampled; -1 = not trained. */
  places: Int32Array
}

/** Rows of an episode by `linearise`; none of a masked one. Weights are 0. */
export function episodeRows(episode: Episode): EpisodeRow[] {
  let place = 0
  const rows = toTrainingSequences(episode, ({ mask }) => ({
    // Numbers of the tokens take the advantages' place for the moment; whole numbers are exact up to 2^24.
    advantage: Float32Array.from(mask, (chosen) => (chosen === 0 ? 0 : place++)),
    weights: { rl: 1 },
  }))
  return rows.map((sequence) => {
    const places = Int32Array.from(sequence.advantages, (at, t) => (sequence.weights.rl[t] === 0 ? -1 : at))
    sequence.advantages.fill(0)
    sequence.weights.rl.fill(0)
    return { sequence, places }
  })
}

/** One value of each row's tokens, such as a log-probability, put in the order of the episode's trained tokens. */
export function trainedValues(rows: readonly EpisodeRow[], of: (row: number) => Float32Array): Float32Array {
  const values: number[] = []
  for (const [i, { places }] of rows.entries()) {
    const row = of(i)
    places.forEach((place, t) => {
      if (place >= 0) values[place] = row[t]
    })
  }
  return Float32Array.from(values)
}
