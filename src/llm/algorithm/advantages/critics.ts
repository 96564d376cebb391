import type { LossValue } from '../losses/tokens.ts'

/**
 * Advantages of segments: what a segment changed of the expected outcome, `A_k = V_(k+1) - V_k`, the last
 * `outcome - V_last`. The values are means over episodes that were continued from each boundary, so no critic is
 * needed. All advantages add up to `outcome - V_0`.
 *
 * Sources: VinePPO (arXiv 2410.01679), where a segment is a step of reasoning; SPO-chain (arXiv 2505.23564).
 *
 * @param values of the states in which the segments begin; as many as segments.
 */
export function segmentAdvantages(values: ArrayLike<number>, outcome: number): number[] {
  return Array.from(values, (value, k) => (k + 1 < values.length ? values[k + 1] : outcome) - value)
}

/**
 * Where to cut: tokens whose probability lay below `probability` are where the policy decided something; a segment
 * ends with every `decisions`-th of them, so that all segments decide equally much.
 *
 * Source: SPO (arXiv 2505.23564), adaptive cutpoints; its `probability` is 0.9 and `decisions` 5, the defaults here.
 *
 * @param logprobs of the tokens of one sequence, natural logarithm.
 * @returns the first token of each segment; empty for no tokens.
 */
export function cutSegments(
  logprobs: ArrayLike<number>,
  settings: { probability?: number; decisions?: number } = {},
): number[] {
  const { probability = 0.9, decisions = 5 } = settings
  const bound = Math.log(probability)
  const starts = logprobs.length === 0 ? [] : [0]
  let made = 0
  for (let t = 0; t < logprobs.length - 1; t++) {
    if (logprobs[t] < bound) made++
    if (made === decisions) {
      starts.push(t + 1)
      made = 0
    }
  }
  return starts
}

/** The advantage of its segment (or turn, or step) for each of `length` tokens; `starts[k]` is the first of segment k. */
export function spreadOverTokens(
  advantages: ArrayLike<number>,
  starts: ArrayLike<number>,
  length: number,
): Float32Array {
  const tokens = new Float32Array(length)
  for (let k = 0; k < starts.length; k++) tokens.fill(advantages[k], starts[k], starts[k + 1] ?? length)
  return tokens
}

/** Utterances in order, all arrays of length T. */
export interface ArcherSteps {
  rewards: ArrayLike<number>
  /** Target critic's value of the state that the utterance led to. */
  nextValues: ArrayLike<number>
  /** 1 where nothing comes after; a truncated episode is 0 and bootstraps. */
  terminated: ArrayLike<number | boolean>
}

/**
 * Targets of the critic over utterances: `r + gamma * V(next state)`, without the second term at the end. Both the
 * twin Q are regressed on it; V is regressed on the smaller Q of an utterance that the policy says in the state.
 *
 * Source: ArCHer (arXiv 2402.19446), the critic over utterances.
 */
export function archerTargets(steps: ArcherSteps, { gamma }: { gamma: number }): Float32Array {
  return Float32Array.from(
    { length: steps.rewards.length },
    (_, t) => steps.rewards[t] + (steps.terminated[t] ? 0 : gamma * steps.nextValues[t]),
  )
}

/**
 * Hierarchical credit assignment: the advantage of a whole utterance by the critic over utterances, `min(Q1, Q2) - V`, is what
 * the policy over tokens is rewarded with at its end. All tokens of the utterance share it (`spreadOverTokens`), less a
 * baseline of their own where there is one.
 *
 * Source: ArCHer (arXiv 2402.19446). With a single critic give the same array twice.
 *
 * @returns one advantage an utterance.
 */
export function archerAdvantages(critic: {
  q1: ArrayLike<number>
  q2: ArrayLike<number>
  values: ArrayLike<number>
}): Float32Array {
  return Float32Array.from(
    { length: critic.values.length },
    (_, t) => Math.min(critic.q1[t], critic.q2[t]) - critic.values[t],
  )
}

/**
 * Rewards of steps by progress: an estimator, trained so that its contributions add up to the outcome
 * (`stepProgressLoss`), says what each step brought; `r_t = alpha * contribution + beta * grounding`, where grounding
 * is 1 for an action that could be executed and 0 for one that could not. Feed the result to `gae`.
 *
 * Source: SPA-RL (arXiv 2505.20732). Defaults alpha 1, beta 0.5.
 *
 * @param grounding 1 or true for actions that could be executed; without it only the contributions are rewarded.
 */
export function stepProgressRewards(
  contributions: ArrayLike<number>,
  grounding?: ArrayLike<number | boolean>,
  settings: { alpha?: number; beta?: number } = {},
): Float32Array {
  const { alpha = 1, beta = 0.5 } = settings
  return Float32Array.from(
    { length: contributions.length },
    (_, t) => alpha * contributions[t] + beta * Number(grounding?.[t] ?? 0),
  )
}

/**
 * What trains the estimator of progress: the mean over episodes of `(sum of contributions - outcome)^2`.
 *
 * Source: SPA-RL (arXiv 2505.20732).
 *
 * @param contributions of the steps of each episode; an episode without steps counts with sum 0.
 * @returns the value and its gradient, same shape as `contributions`.
 */
export function stepProgressLoss(
  contributions: readonly ArrayLike<number>[],
  outcomes: ArrayLike<number>,
): { value: number; gradient: Float32Array[] } {
  const share = contributions.length === 0 ? 0 : 1 / contributions.length
  let value = 0
  const gradient = contributions.map((steps, e) => {
    let error = -outcomes[e]
    for (let t = 0; t < steps.length; t++) error += steps[t]
    value += share * error * error
    return new Float32Array(steps.length).fill(2 * share * error)
  })
  return { value, gradient }
}

/**
 * The critic's loss: half the squared error `(V - return)^2`, weighted. With `clip` the new value is also tried
 * within +-clip of the old one, and the worse of both counts.
 *
 * Source: PPO's first implementation (OpenAI baselines); verl's `compute_value_loss`, TRL's PPO, both with the half.
 *
 * @returns `gradient[t]` is d value / d values[t].
 */
export function valueLoss(
  inputs: {
    values: ArrayLike<number>
    returns: ArrayLike<number>
    weights: ArrayLike<number>
    /** By the critic before the update; needed for the clip only. */
    oldValues?: ArrayLike<number>
  },
  settings: { clip?: number } = {},
): LossValue {
  const { values, returns, weights, oldValues = values } = inputs
  const { clip = Infinity } = settings
  const gradient = new Float32Array(values.length)
  let value = 0
  let counted = 0
  let clipped = 0
  for (let t = 0; t < gradient.length; t++) {
    if (weights[t] === 0) continue
    const bounded = Math.min(oldValues[t] + clip, Math.max(oldValues[t] - clip, values[t]))
    const error = values[t] - returns[t]
    const limited = bounded - returns[t]
    const worse = limited * limited > error * error
    value += (weights[t] * (worse ? limited * limited : error * error)) / 2
    gradient[t] = worse ? 0 : weights[t] * error
    counted++
    if (worse) clipped++
  }
  return { value, gradient, clipFraction: counted === 0 ? 0 : clipped / counted }
}
