import type { Episode } from '../../episode/types.ts'
import { trainedTokens } from '../trained-tokens.ts'
import type { EpisodeGroup, LearningContext } from '../types.ts'
import { episodeRows, trainedValues } from './episode-rows.ts'
import type { EpisodeRow } from './episode-rows.ts'

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
