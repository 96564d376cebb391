import { AgogeError } from '../../../error.ts'
import { toTrainingSequences } from '../../episode/training-sequences.ts'
import type { Episode, TrainingSequence } from '../../episode/types.ts'
import type { ImportanceSettings } from '../losses/corrections.ts'
import { importanceWeights } from '../losses/corrections.ts'
import { highEntropyMask } from '../losses/regularisers.ts'
import { trainedTokens } from '../losses/imitation.ts'
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

/**
 * Corrects the rl weights of the sequences in place for a sampler that differs from the trainer, and replaces the
 * sampler's log-probabilities by the trainer's.
 *
 * @param trainer the trainer's log-probabilities before the batch, one array per sequence.
 * @returns the mean ratio of the first correction, and the share of tokens that remain after all corrections. Also how
 * far trainer and sampler are apart over counted tokens, which the loss can no longer measure: mean |difference| in
 * nats, k3, and the largest ratio.
 */
export function correctWeights(
  sequences: readonly TrainingSequence[],
  trainer: readonly Float32Array[],
  corrections: readonly ImportanceSettings[],
): { meanImportance: number; keptTokens: number } & Mismatch {
  const starts: number[] = []
  let length = 0
  for (const { tokens } of sequences) {
    starts.push(length)
    length += tokens.length
  }
  const row = (of: (i: number) => Float32Array): Float32Array => {
    const values = new Float32Array(length)
    sequences.forEach((_, i) => values.set(of(i), starts[i]))
    return values
  }
  const logprobs = row((i) => trainer[i])
  const samplerLogprobs = row((i) => sequences[i].logprobs)
  let weights = row((i) => sequences[i].weights.rl)
  const apart = mismatch(logprobs, samplerLogprobs, weights)
  let meanImportance = 1
  let keptTokens = 1
  corrections.forEach((settings, at) => {
    const corrected = importanceWeights({ logprobs, samplerLogprobs, weights, starts }, settings)
    weights = corrected.weights
    keptTokens *= corrected.kept
    if (at === 0) meanImportance = corrected.meanRatio
  })
  for (const [i, sequence] of sequences.entries()) {
    sequence.weights.rl.set(weights.subarray(starts[i], starts[i] + sequence.tokens.length))
    sequence.logprobs.set(trainer[i])
  }
  return { meanImportance, keptTokens, ...apart }
}

interface Mismatch {
  mismatch: number
  mismatchKl: number
  mismatchMaxRatio: number
}

function mismatch(trainer: Float32Array, sampler: Float32Array, weights: Float32Array): Mismatch {
  const found = { mismatch: 0, mismatchKl: 0, mismatchMaxRatio: 0 }
  let count = 0
  for (let t = 0; t < trainer.length; t++) {
    if (weights[t] === 0) continue
    const difference = trainer[t] - sampler[t]
    const ratio = Math.exp(difference)
    count++
    found.mismatch += Math.abs(difference)
    found.mismatchKl += ratio - 1 - difference
    found.mismatchMaxRatio = Math.max(found.mismatchMaxRatio, ratio)
  }
  const total = Math.max(1, count)
  return { ...found, mismatch: found.mismatch / total, mismatchKl: found.mismatchKl / total }
}

/**
 * Sets the rl weights of all but the highest-entropy tokens to 0, in place. Uses entropies from before this batch.
 *
 * @param sequences of all judged episodes: the quantile is taken over all of them.
 * @returns the lowest entropy of the remaining tokens, in nats.
 */
export async function keepHighEntropy(
  sequences: readonly TrainingSequence[],
  share: number,
  context: LearningContext,
): Promise<{ leastEntropy?: number }> {
  if (sequences.length === 0) return {}
  if (context.entropies === undefined)
    throw new AgogeError('The entropies of the policy are unavailable', {
      code: 'bad-config',
      given: { entropyShare: share },
      expected: '`entropies` in the context of learning',
      hint: 'train gives it; leave out entropyShare elsewhere',
    })
  const measured = await context.entropies(sequences)
  const all = (of: (i: number) => Float32Array): number[] => sequences.flatMap((_, i) => Array.from(of(i)))
  const kept = highEntropyMask(
    all((i) => measured[i]),
    all((i) => sequences[i].weights.rl),
    { share },
  )
  let at = 0
  let leastEntropy = Infinity
  for (const [i, { weights, tokens }] of sequences.entries()) {
    weights.rl.set(kept.subarray(at, at + tokens.length))
    at += tokens.length
    weights.rl.forEach((weight, t) => {
      if (weight !== 0) leastEntropy = Math.min(leastEntropy, measured[i][t])
    })
  }
  return Number.isFinite(leastEntropy) ? { leastEntropy } : {}
}
