import { toTrainingSequences } from '../../episode/training-sequences.ts'
import type { Episode, TrainingSequence } from '../../episode/types.ts'
import { trainedTokens } from '../supervised.ts'
import type { EpisodeGroup, LearningContext } from '../types.ts'

/** A row of an episode before it has advantages, and which of the episode's trained tokens it contains. */
interface EpisodeRow {
  sequence: TrainingSequence
  /** For each token its index among the trained tokens of the episode, in the order they were sampled; -1 = not trained. */
  places: Int32Array
}

/** The rows of an episode from `toTrainingSequences`, with weights 0. Empty for a masked episode. */
function episodeRows(episode: Episode): EpisodeRow[] {
  let place = 0
  const rows = toTrainingSequences(episode, ({ mask }) => ({
    // The advantages temporarily hold the indices of the tokens; float32 represents integers exactly up to 2^24.
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

/** Values per token of each row, such as log-probabilities, reordered to the episode's trained tokens. */
function trainedValues(rows: readonly EpisodeRow[], of: (row: number) => Float32Array): Float32Array {
  const values: number[] = []
  for (const [i, { places }] of rows.entries()) {
    const row = of(i)
    places.forEach((place, t) => {
      if (place >= 0) values[place] = row[t]
    })
  }
  return Float32Array.from(values)
}

/** An episode being prepared for the trainer. */
export interface Member {
  episode: Episode
  /** Reward as shaped so far; `null` = masked. */
  reward: number | null
  /** Number of tokens that the policy chose; 0 if masked. */
  length: number
  rows: EpisodeRow[]
  /** Reference log-probabilities of the trained tokens, in the order they were sampled; empty without a reference. */
  logprobs: Float32Array
  referenceLogprobs: Float32Array
}

export interface MemberGroup {
  members: Member[]
  /** `null` = masked; absent = not played. */
  greedyReward: number | null | undefined
}

export function memberGroups(groups: readonly EpisodeGroup[]): MemberGroup[] {
  return groups.map(({ episodes, rewards, greedyReward }) => ({
    greedyReward,
    members: episodes.map((episode, m) => ({
      episode,
      reward: rewards[m],
      length: rewards[m] === null ? 0 : trainedTokens(episode),
      rows: rewards[m] === null ? [] : episodeRows(episode),
      logprobs: new Float32Array(0),
      referenceLogprobs: new Float32Array(0),
    })),
  }))
}

/** The group with rows that have no weights or corrections yet. */
export function withFreshRows({ members, greedyReward }: MemberGroup): MemberGroup {
  return {
    greedyReward,
    members: members.map((member) => ({
      ...member,
      rows: member.reward === null ? [] : episodeRows(member.episode),
    })),
  }
}

/** Scores all rows under the reference in one call and reorders the results to the members' tokens. */
export async function addReferences(
  groups: readonly MemberGroup[],
  reference: LearningContext['reference'],
): Promise<void> {
  const members = groups.flatMap((group) => group.members)
  const answers = await reference(members.flatMap(({ rows }) => rows.map(({ sequence }) => sequence)))
  let at = 0
  for (const member of members) {
    const start = at
    at += member.rows.length
    member.logprobs = trainedValues(member.rows, (i) => member.rows[i].sequence.logprobs)
    member.referenceLogprobs = trainedValues(member.rows, (i) => answers[start + i])
  }
}
