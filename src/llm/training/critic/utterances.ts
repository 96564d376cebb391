import { turnRewards, utteranceRows } from '../../episode/utterances.ts'
import type { Episode } from '../../episode/types.ts'

/** An episode as a critic over utterances sees it: rows of tokens, and what the policy said in them. */
export interface SpokenEpisode {
  episode: Episode
  rows: Int32Array[]
  /** In the order they were said. */
  steps: SpokenStep[]
}

export interface SpokenStep {
  /** The row it stands in, the token before it and its last one. */
  row: number
  before: number
  last: number
  /** What the environment paid for it; the last one gets the reward of the episode too. */
  reward: number
}

/** Judged episodes with what they said; `null` for masked ones and those that said nothing. */
export function spoken(episode: Episode, reward: number | null): SpokenEpisode | null {
  const turns = reward === null ? null : turnRewards(episode)
  if (turns === null) return null
  const found = utteranceRows(episode)
  const steps = found
    .flatMap(({ utterances }, row) => utterances.map((utterance) => ({ ...utterance, row })))
    .sort((a, b) => a.turn - b.turn)
    .map(({ turn, row, before, last }) => ({ row, before, last, reward: turns[turn] }))
  if (steps.length === 0) return null
  steps[steps.length - 1].reward += reward!
  return { episode, rows: found.map(({ tokens }) => tokens), steps }
}

/** A number for each of an episode's samples from one for each of its steps; what the policy did not say itself gets 0. */
export function bySample({ samples }: Episode, steps: ArrayLike<number>): number[] {
  let at = 0
  return samples.map(({ trainable, mask }) => (trainable && mask.includes(1) ? steps[at++] : 0))
}

/** All rows of several episodes, with where those of each begin. */
export function rowsOf(episodes: readonly SpokenEpisode[]): { rows: Int32Array[]; starts: number[] } {
  const starts: number[] = []
  const rows: Int32Array[] = []
  for (const episode of episodes) {
    starts.push(rows.length)
    rows.push(...episode.rows)
  }
  return { rows, starts }
}
