import {
  kimiLengthRewards,
  klRewards,
  maskOverlong,
  relativeLengthPenalty,
  repetitionPenalty,
  softOverlongPenalty,
} from '../advantages/index.ts'
import type { Member, MemberGroup } from './batch.ts'
import type { KlSettings, RewardShaping } from './settings.ts'

/** Changes the rewards of a group as the settings say, in the order: mask, length of the group, penalties of each, divergence. */
export function shapeRewards(
  { members }: MemberGroup,
  shaping: RewardShaping,
  kl: KlSettings | undefined,
): void {
  let rewards: (number | null)[] = members.map(({ reward }) => reward)
  if (shaping.maskOverlong === true)
    rewards = maskOverlong(
      rewards,
      members.map(({ episode }) => episode.ending === 'token-limit'),
    )
  const lengths = members.map(({ length }) => length)
  if (shaping.relativeLength !== undefined)
    rewards = relativeLengthPenalty(rewards, lengths, { weight: shaping.relativeLength })
  if (shaping.brevity !== undefined) {
    const brevity = kimiLengthRewards(
      lengths,
      members.map(({ episode }, m) => (rewards[m] === null ? null : episode.success)),
    )
    rewards = add(rewards, (m) => shaping.brevity! * brevity[m])
  }
  rewards = add(rewards, (m) => penalties(members[m], shaping) - divergence(members[m], kl))
  for (const [m, member] of members.entries()) {
    member.reward = rewards[m]
    if (rewards[m] === null) {
      member.length = 0
      member.rows = []
    }
  }
}

function add(rewards: readonly (number | null)[], of: (member: number) => number): (number | null)[] {
  return rewards.map((reward, m) => (reward === null ? null : reward + of(m)))
}

function penalties({ episode, length }: Member, { softOverlong, repetition }: RewardShaping): number {
  const overlong =
    softOverlong === undefined ? 0 : (softOverlong.weight ?? 1) * softOverlongPenalty(length, softOverlong)
  if (repetition === undefined) return overlong
  const own = episode.samples.filter(({ trainable }) => trainable)
  const said = own.flatMap(({ output, mask }) =>
    Array.from(episode.nodes[output].tokens).filter((_, t) => mask[t] !== 0),
  )
  return overlong + repetitionPenalty(said, repetition)
}

/** What the whole episode pays for its divergence, where that is in the reward. */
function divergence(member: Member, kl: KlSettings | undefined): number {
  if (kl?.place !== 'reward' || member.length === 0) return 0
  return -klRewards({ ...member, outcome: 0 }, kl).reduce((sum, reward) => sum + reward, 0)
}
