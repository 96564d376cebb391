import { toTrainingSequences } from '../../episode/training-sequences.ts'
import type { Episode, TrainingSequence } from '../../episode/types.ts'
import { trainedTokens } from '../supervised.ts'
import type { EpisodeGroup, LearningContext } from '../types.ts'

/** A row of an episode, still without advantages, and which of the episode's trained tokens stand where. */
interface EpisodeRow {
  sequence: TrainingSequence
  /** For each token its place among the trained tokens of the episode, in the order they were sampled; -1 = not trained. */
  places: Int32Array
}

/** Rows of an episode by `toTrainingSequences`; none of a masked one. Weights are 0. */
function episodeRows(episode: Episode): EpisodeRow[] {
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

/** An episode on its way to the trainer. */
export interface Member {
  episode: Episode
  /** As shaped so far; `null` = masked. */
  reward: number | null
  /** Tokens that the policy chose; 0 where masked. */
  length: number
  rows: EpisodeRow[]
  /** Of the trained tokens, in the order they were sampled; empty unless a reference is asked. */
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

/** The group with rows that nobody has weighted or corrected yet. */
export function withFreshRows({ members, greedyReward }: MemberGroup): MemberGroup {
  return {
    greedyReward,
    members: members.map((member) => ({
      ...member,
      rows: member.reward === null ? [] : episodeRows(member.episode),
    })),
  }
}

/** Asks the reference about all rows at once, and puts the answers in the order of the members' tokens. */
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
