import { gae } from '../../../returns/gae.ts'
import { klRewards } from '../../algorithm/advantages/reward-shaping.ts'
import { tokenWeights } from '../../algorithm/losses/tokens.ts'
import type { TrainingSequence } from '../../episode/types.ts'
import { mean } from '../../../statistics/statistics.ts'

/** What the policy said, tokens it chose with an rl weight above 0, and what it was worth; `null` = could not be judged. */
export interface RewardedRow {
  sequence: TrainingSequence
  reward: number | null
}

export interface JudgedRow extends RewardedRow {
  reward: number
}

/** A row with advantages and weights for the policy; `states`: where the critic is asked, the token before each action. */
export interface CreditedRow {
  sequence: TrainingSequence
  states: number[]
  values: Float32Array
  returns: Float32Array
  /** Sum over the tokens of log policy - log reference. */
  kl: number
}

/** GAE over the tokens that the policy chose, row by row; what others said in between is no step. */
export function creditTokens(
  rows: readonly JudgedRow[],
  values: readonly Float32Array[],
  settings: { gamma?: number; lambda?: number; klCoefficient?: number; references?: readonly Float32Array[] },
): CreditedRow[] {
  const { gamma = 1, lambda = 0.95, klCoefficient = 0, references } = settings
  const advantage = rows.map(({ sequence, reward }, i) => {
    const places = placesOf(sequence)
    const states = places.map((t) => t - 1)
    const own = Float32Array.from(states, (t) => values[i][t])
    const logprobs = places.map((t) => sequence.logprobs[t])
    const referenceLogprobs = references === undefined ? logprobs : places.map((t) => references[i][t])
    const last = places.length - 1
    const { advantages, returns } = gae(
      {
        rewards: klRewards({ logprobs, referenceLogprobs, outcome: reward }, { coefficient: klCoefficient }),
        values: own,
        nextValues: own.map((_, t) => (t === last ? 0 : own[t + 1])),
        terminated: own.map((_, t) => Number(t === last)),
        truncated: new Float32Array(own.length),
      },
      { gamma, lambda },
    )
    const kl = logprobs.reduce((sum, logprob, t) => sum + logprob - referenceLogprobs[t], 0)
    return { sequence, places, states, values: own, advantages, returns, kl }
  })
  const all = advantage.flatMap(({ advantages }) => [...advantages])
  const centre = mean(all)
  const deviation = Math.sqrt(variance(all))
  const weights = tokenWeights(
    advantage.map(({ places }) => places.length),
    { mode: 'token-mean' },
  )
  return advantage.map(({ sequence, places, advantages, ...rest }, i) => {
    const row = new Float32Array(sequence.tokens.length)
    const rl = new Float32Array(sequence.tokens.length)
    for (const [k, t] of places.entries()) {
      row[t] = (advantages[k] - centre) / (deviation + 1e-8)
      rl[t] = weights[i]
    }
    return { ...rest, sequence: { ...sequence, advantages: row, weights: { ...sequence.weights, rl } } }
  })
}

/** Where the policy's tokens are. */
export function placesOf({ tokens, weights }: TrainingSequence): number[] {
  return Array.from(tokens.keys()).filter((t) => weights.rl[t] !== 0)
}

/** 1 - variance of the error / variance of the returns; 0 where the returns do not vary. */
export function explainedVariance(advantage: readonly CreditedRow[]): number {
  const returns = advantage.flatMap((row) => [...row.returns])
  const errors = advantage.flatMap((row) => Array.from(row.returns, (value, t) => value - row.values[t]))
  const of = variance(returns)
  return of === 0 ? 0 : 1 - variance(errors) / of
}

function variance(values: readonly number[]): number {
  const centre = mean(values)
  return mean(values.map((value) => (value - centre) ** 2))
}
