import { AgogeError } from '../../../error.ts'
import {
  kimiLengthRewards,
  klRewards,
  maskOverlong,
  relativeLengthPenalty,
  repetitionPenalty,
  softOverlongPenalty,
} from '../advantages/reward-shaping.ts'
import type { Member, MemberGroup } from './batch.ts'
import type { KlSettings, RewardShaping } from '../types.ts'

/** Shaping with all numbers of its soft overlong punishment. */
export type CompleteShaping = Omit<RewardShaping, 'softOverlong'> & {
  softOverlong?: { limit: number; cache: number; weight: number }
}

/** DAPO's 4096 of 20,480 tokens. */
const cacheShare = 0.2

/**
 * The shaping settings with defaults filled in.
 *
 * @param tokenLimit most tokens that the policy can write in an episode, if known.
 * @throws AgogeError `bad-config` if a length punishment has no limit.
 */
export function completeShaping(
  { softOverlong, ...others }: RewardShaping,
  tokenLimit: number | undefined,
): CompleteShaping {
  if (softOverlong === undefined) return others
  const { limit = tokenLimit, weight = 1 } = softOverlong
  if (limit === undefined)
    throw new AgogeError('Nothing says how long an episode may be', {
      code: 'bad-config',
      given: { softOverlong },
      expected: '`limit` of softOverlong in tokens of the policy, or `tokenLimit` in the context of learning',
      hint: 'train gives it; elsewhere set shaping: { softOverlong: { limit } }, or leave softOverlong out',
    })
  return { ...others, softOverlong: { limit, cache: softOverlong.cache ?? cacheShare * limit, weight } }
}

/** Changes the rewards of a group in this order: mask, group length rewards, per-episode penalties, divergence. */
export function shapeRewards(
  { members }: MemberGroup,
  shaping: CompleteShaping,
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

function penalties({ episode, length }: Member, { softOverlong, repetition }: CompleteShaping): number {
  const overlong =
    softOverlong === undefined ? 0 : softOverlong.weight * softOverlongPenalty(length, softOverlong)
  if (repetition === undefined) return overlong
  const own = episode.samples.filter(({ trainable }) => trainable)
  const said = own.flatMap(({ output, mask }) =>
    Array.from(episode.nodes[output].tokens).filter((_, t) => mask[t] !== 0),
  )
  return overlong + repetitionPenalty(said, repetition)
}

/** The divergence penalty of the whole episode, if it is part of the reward. */
function divergence(member: Member, kl: KlSettings | undefined): number {
  if (kl?.place !== 'reward' || member.length === 0) return 0
  return -klRewards({ ...member, outcome: 0 }, kl).reduce((sum, reward) => sum + reward, 0)
}
