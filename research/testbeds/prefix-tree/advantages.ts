import { AgogeError } from 'agoge'
import {
  advantages,
  kimiLengthRewards,
  maskOverlong,
  softOverlongPenalty,
  spreadOverTokens,
} from 'agoge/losses'
import type { AdvantageGroup, EpisodeTurns } from 'agoge/losses'
import type { AdvantageSettings, RewardShaping } from 'agoge/llm'
import type { Answer, PrefixPolicy } from './policy.ts'
import type { PrefixTree } from './tree.ts'

/** Advantage of an answer: one for all its tokens, or one per token. */
export type AnswerAdvantage = number | ArrayLike<number>

/** Advantages of your own. Returns an entry for every answer of every group; `null` masks the answer. */
export type AdvantagesOfGroups = (
  groups: readonly (readonly Answer[])[],
  policy: PrefixPolicy,
) => readonly (readonly (AnswerAdvantage | null)[])[]

/**
 * Advantages by the library's definition with this name, after the library's shaping of rewards. `null` = masked. The
 * greedy answer that ReMax needs is that of the policy.
 *
 * @throws AgogeError `bad-config` for a shaping that answers without a text do not have.
 */
export function advantagesOf(
  policy: PrefixPolicy,
  groups: readonly (readonly Answer[])[],
  settings: AdvantageSettings | AdvantagesOfGroups,
  shaping: RewardShaping = {},
): readonly (readonly (AnswerAdvantage | null)[])[] {
  if (typeof settings === 'function') return settings(groups, policy)
  const definition = advantages[settings.name]
  const rows = groups.map((group) => advantageGroup(policy, group, shaping))
  const found =
    definition.over === 'batch'
      ? definition.compute(rows, settings)
      : rows.map((row) => definition.compute(row, settings))
  return groups.map((group, g) =>
    group.map(({ tokens, question }, m) => {
      const advantage = found[g][m]
      if (rows[g].rewards[m] === null) return null
      if (typeof advantage === 'number' || definition.per !== 'turn') return advantage
      return spreadOverTokens(advantage, turnStarts(policy.tree, question), tokens.length)
    }),
  )
}

/** The numbers of a group that the library's estimators read. */
function advantageGroup(
  policy: PrefixPolicy,
  group: readonly Answer[],
  shaping: RewardShaping,
): AdvantageGroup {
  const rewards = shapedRewards(policy.tree, group, shaping)
  return {
    rewards,
    lengths: group.map(({ tokens }, m) => (rewards[m] === null ? 0 : tokens.length)),
    get greedyReward() {
      return greedyReward(policy, group[0].question)
    },
    get turns() {
      return group.map((answer, m) => (rewards[m] === null ? null : turnsOf(policy.tree, answer, rewards[m])))
    },
    get tokenRewards() {
      return group.map(({ tokens }, m) => {
        const row = new Float32Array(tokens.length)
        row[tokens.length - 1] = rewards[m] ?? 0
        return row
      })
    },
  }
}

const turnStarts = ({ questions }: PrefixTree, question: number): readonly number[] =>
  questions[question].turnStarts ?? [0]

function turnsOf(tree: PrefixTree, { tokens, question }: Answer, outcome: number): EpisodeTurns {
  const starts = turnStarts(tree, question)
  const { turnRewards, state } = tree.questions[question]
  return {
    turns: turnRewards?.(tokens) ?? starts.map(() => 0),
    outcome,
    starts,
    states: (anchor) =>
      starts.map((start) => {
        const prefix = tokens.slice(0, start)
        return anchor === 'observation' && state !== undefined ? state(prefix) : prefix.join(',')
      }),
  }
}

function shapedRewards(
  { questions }: PrefixTree,
  group: readonly Answer[],
  { maskOverlong: masks = false, softOverlong, brevity, ...others }: RewardShaping,
): (number | null)[] {
  if (others.repetition !== undefined || others.relativeLength !== undefined)
    throw new AgogeError('The prefix tree does not shape rewards so', {
      code: 'bad-config',
      given: others,
      expected: 'maskOverlong, softOverlong or brevity',
    })
  const cut = group.map(({ truncated }) => truncated)
  let rewards: (number | null)[] = group.map(({ reward }) => reward)
  if (masks) rewards = maskOverlong(rewards, cut)
  if (brevity !== undefined) {
    const right = rewards.map((reward) => (reward === null ? null : reward >= 1))
    const bonus = kimiLengthRewards(
      group.map(({ tokens }) => tokens.length),
      right,
    )
    rewards = rewards.map((reward, m) => (reward === null ? null : reward + brevity * bonus[m]))
  }
  if (softOverlong === undefined) return rewards
  return rewards.map((reward, m) => {
    const { limit = questions[group[m].question].maxLength, weight = 1 } = softOverlong
    const { cache = 0.2 * limit } = softOverlong
    return reward === null
      ? null
      : reward + weight * softOverlongPenalty(group[m].tokens.length, { limit, cache })
  })
}

/** Training reward of the answer whose every token is the likeliest. */
function greedyReward(policy: PrefixPolicy, question: number): number {
  const { roots, children, vocabulary, trainingRewards } = policy.tree
  let node = roots[question]
  for (;;) {
    const row = policy.logprobs(node).subarray(node * vocabulary, (node + 1) * vocabulary)
    const at = node * vocabulary + row.indexOf(row.reduce((most, value) => Math.max(most, value)))
    if (children[at] < 0) return trainingRewards[at]
    node = children[at]
  }
}
