import { defined } from '../../../defined.ts'
import { AgogeError } from '../../../error.ts'
import { turnRewards } from '../../episode/training-sequences.ts'
import type { Episode, EpisodeNode, EpisodeSample } from '../../episode/types.ts'
import { spreadOverTokens } from '../advantages/critics.ts'
import { klRewards } from '../advantages/reward-shaping.ts'
import type { AdvantageDefinition, AdvantageGroup, EpisodeTurns } from '../define.ts'
import type { AdvantageFunction, EpisodeAdvantage, KlSettings, LearningContext } from '../types.ts'
import type { Member, MemberGroup } from './batch.ts'

/** Advantage of a member: one for all its tokens, or one per token in the order they were sampled. */
export type TurnAdvantage = number | Float32Array

/** Advantages of every member of every group by a definition; 0 for masked members. */
export function advantagesOf(
  batch: readonly MemberGroup[],
  definition: AdvantageDefinition,
  settings: object,
  kl: KlSettings | undefined,
): TurnAdvantage[][] {
  const groups = batch.map((group) => advantageGroup(group, kl))
  const found =
    definition.over === 'batch'
      ? definition.compute(groups, settings)
      : groups.map((group) => definition.compute(group, settings))
  return batch.map(({ members }, g) =>
    members.map(({ length }, m) => {
      const advantage = found[g][m]
      if (typeof advantage === 'number') return advantage
      if (definition.per !== 'turn') return Float32Array.from(advantage)
      const starts = length === 0 ? [] : (groups[g].turns[m]?.starts ?? []).slice(0, advantage.length)
      return spreadOverTokens(advantage, starts, length)
    }),
  )
}

/** The numbers of a group that estimators read. Expensive ones are computed when they are read. */
function advantageGroup({ members, greedyReward }: MemberGroup, kl: KlSettings | undefined): AdvantageGroup {
  let turns: readonly (EpisodeTurns | null)[] | undefined
  return {
    rewards: members.map(({ reward }) => reward),
    lengths: members.map(({ length }) => length),
    ...defined({ greedyReward }),
    get turns() {
      return (turns ??= members.map(episodeTurns))
    },
    get tokenRewards() {
      return members.map((member) => tokenRewards(member, kl))
    },
  }
}

function episodeTurns({ episode, reward }: Member): EpisodeTurns | null {
  const turns = reward === null ? null : turnRewards(episode)
  if (turns === null) return null
  return {
    turns,
    outcome: reward!,
    starts: turnStarts(episode),
    states: (anchor) => {
      const stateOf = anchor === 'history' ? history : observation
      return episode.samples.filter(({ trainable }) => trainable).map((sample) => stateOf(episode, sample))
    },
  }
}

/** Token rewards: the reward of the episode at its last token, a divergence in the reward at the token that causes it. */
function tokenRewards(
  { reward, length, logprobs, referenceLogprobs }: Member,
  kl: KlSettings | undefined,
): Float32Array {
  const tokens = new Float32Array(length)
  if (reward === null || length === 0) return tokens
  tokens[length - 1] = reward
  if (kl?.place !== 'reward') return tokens
  const rewarded = klRewards({ logprobs, referenceLogprobs, outcome: 0 }, kl)
  // The reward already includes the whole divergence, so it moves from there to the tokens.
  tokens[length - 1] -= rewarded.reduce((sum, value) => sum + value, 0)
  return tokens.map((value, t) => value + rewarded[t])
}

/** Share of the turns of judged episodes that the environment rewarded. */
export function rewardedTurns(groups: readonly MemberGroup[]): number {
  const turns = groups.flatMap(({ members }) =>
    members.flatMap(({ episode, reward }) => (reward === null ? [] : (turnRewards(episode) ?? []))),
  )
  return turns.length === 0 ? 0 : turns.filter((reward) => reward !== 0).length / turns.length
}

/** Index of the first token of each turn among the tokens that the policy chose. */
function turnStarts({ samples }: Episode): number[] {
  let at = 0
  return samples.flatMap(({ trainable, mask }) => {
    if (!trainable) return []
    const start = at
    for (const chosen of mask) at += chosen
    return [start]
  })
}

/** What the policy was shown since its last turn. */
function observation(episode: Episode, { path }: EpisodeSample): string {
  const nodes = path.map((id) => episode.nodes[id])
  const spoke = nodes.findLastIndex(({ role }) => role === 'assistant')
  return JSON.stringify(nodes.slice(spoke + 1).map(({ role, text }) => [role, text]))
}

/** Everything before the turn. */
function history(episode: Episode, { path }: EpisodeSample): string {
  const said = ({ role, text, calls }: EpisodeNode): unknown[] => [
    role,
    text,
    calls?.map((call) => [call.name, call.arguments]),
  ]
  return JSON.stringify(path.map((id) => said(episode.nodes[id])))
}

/**
 * Calls a custom advantage function and assigns advantages to the tokens that the policy chose. @throws AgogeError
 * `shape-mismatch`.
 */
export async function askAdvantages(
  batch: readonly MemberGroup[],
  advantage: AdvantageFunction,
  context: LearningContext,
): Promise<{ turnAdvantages: TurnAdvantage[][]; metrics: Record<string, number> }> {
  const groups = batch.map(({ members, greedyReward }) => ({
    episodes: members.map(({ episode }) => episode),
    rewards: members.map(({ reward }) => reward),
    ...defined({ greedyReward }),
  }))
  const { turnAdvantages, metrics = {} } = await advantage(groups, context)
  return {
    turnAdvantages: batch.map(({ members }, g) =>
      members.map(({ episode, length }, m) => {
        const turnAdvantage = turnAdvantages[g]?.[m]
        if (length === 0 || typeof turnAdvantage === 'number')
          return length === 0 ? 0 : (turnAdvantage as number)
        return byToken(episode, turnAdvantage, length)
      }),
    ),
    metrics,
  }
}

function byToken(
  episode: Episode,
  turnAdvantage: EpisodeAdvantage | undefined,
  length: number,
): Float32Array {
  const { samples, id } = episode
  if (typeof turnAdvantage !== 'object' || turnAdvantage.length !== samples.length)
    throw badShape(
      id,
      typeof turnAdvantage === 'object' ? turnAdvantage.length : turnAdvantage,
      `${samples.length} entries`,
    )
  const tokens = new Float32Array(length)
  let at = 0
  samples.forEach(({ trainable, mask }, s) => {
    const turn = turnAdvantage[s]
    if (typeof turn !== 'number' && turn.length !== mask.length)
      throw badShape(`${id}, sample ${s}`, turn.length, `a number, or ${mask.length} of them`)
    if (!trainable) return
    mask.forEach((chosen, t) => {
      if (chosen !== 0) tokens[at++] = typeof turn === 'number' ? turn : turn[t]
    })
  })
  return tokens
}

function badShape(where: string, given: unknown, expected: string): AgogeError {
  return new AgogeError(`The advantages of episode ${where} do not fit`, {
    code: 'shape-mismatch',
    given,
    expected: `${expected}: one number for the episode, or an entry for each of its samples`,
  })
}
