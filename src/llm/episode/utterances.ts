import { toTrainingSequences } from './training-sequences.ts'
import type { Episode } from './types.ts'

/** One output of the policy within a row of tokens. */
export interface Utterance {
  /** Which of the episode's trainable samples it is, in the order they were sampled. */
  turn: number
  /** The token before the first that the policy chose: what it says next is all that a state has to know. */
  before: number
  /** The last token that it chose. */
  last: number
}

/** Rows of an episode as `toTrainingSequences` makes them, with the places of the policy's outputs; masked episodes have none. */
export function utteranceRows(episode: Episode): { tokens: Int32Array; utterances: Utterance[] }[] {
  let turn = 0
  // Numbers of turns take the advantages' place.
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
 * What each trainable sample was rewarded with by itself: the sum of the rewards that name it. A reward of another's sample (a sub-agent that is
 * not trained) goes to the trained one before it.
 *
 * @returns one number a trainable sample, 0 where it had no reward; `null` where a reward could not be judged.
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
