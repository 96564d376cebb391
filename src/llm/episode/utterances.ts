import { toTrainingSequences } from './training-sequences.ts'
import type { Episode } from './types.ts'

/** One output of the policy within a row of tokens. */
export interface Utterance {
  /** Index among the episode's trainable samples, in the order they were sampled. */
  turn: number
  /** Position of the token before the first one that the policy chose. A value function reads its state there. */
  before: number
  /** Position of the last token that the policy chose. */
  last: number
}

/**
 * The rows of an episode, as `toTrainingSequences` makes them, with the positions of the policy's outputs. Masked episodes have
 * none.
 */
export function utteranceRows(episode: Episode): { tokens: Int32Array; utterances: Utterance[] }[] {
  let turn = 0
  // Carries the turn's number in place of its advantage.
  const rows = toTrainingSequences(episode, () => ({ advantage: turn++, weights: { rl: 1 } }))
  return rows.map(({ tokens, advantages, weights }) => {
    const utterances = new Map<number, Utterance>()
    for (let t = 0; t < tokens.length; t++) {
      if (weights.rl[t] === 0) continue
      const known = utterances.get(advantages[t])
      if (known === undefined) utterances.set(advantages[t], { turn: advantages[t], before: t - 1, last: t })
      else known.last = t
    }
    return { tokens, utterances: [...utterances.values()] }
  })
}

/**
 * The reward of each trainable sample: the sum of the rewards that name it. A reward for an untrained sample (of a sub-agent)
 * goes to the trained one before it.
 *
 * @returns one number per trainable sample, 0 without a reward. `null` if any reward could not be judged.
 */
export function turnRewards({ samples, rewards }: Pick<Episode, 'samples' | 'rewards'>): number[] | null {
  const turns: number[] = []
  let turn = -1
  const turnOf = samples.map(({ trainable }) => {
    if (trainable) turns[++turn] = 0
    return Math.max(0, turn)
  })
  for (const { sample, value } of rewards) {
    if (sample === undefined || turns.length === 0) continue
    if (value === null) return null
    turns[turnOf[sample]] += value
  }
  return turns
}
