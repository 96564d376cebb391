import type { LossValue } from '../losses/tokens.ts'

/**
 * Advantages of segments: the change of the expected outcome over the segment, `A_k = V_(k+1) - V_k`; the last is
 * `outcome - V_last`. The values are mean outcomes of episodes continued from each boundary, so this needs no critic.
 * The advantages sum to `outcome - V_0`.
 *
 * Sources: VinePPO (arXiv 2410.01679), where a segment is a step of reasoning; SPO-chain (arXiv 2505.23564).
 *
 * @param values of the states at which the segments begin, one per segment.
 */
export function segmentAdvantages(values: ArrayLike<number>, outcome: number): number[] {
  return Array.from(values, (value, k) => (k + 1 < values.length ? values[k + 1] : outcome) - value)
}

/**
 * Cuts a sequence into segments with equally many decisions. Tokens with a probability below `probability` count as
 * decisions, and a segment ends with every `decisions`-th of them.
 *
 * Source: SPO (arXiv 2505.23564), adaptive cutpoints; `probability` 0.9 and `decisions` 5, the defaults here.
 *
 * @param logprobs of the tokens of one sequence, natural logarithm.
 * @returns the index of the first token of each segment; empty for no tokens.
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

/**
 * Copies the advantage of a segment (or turn, or step) to each of its tokens. `starts[k]` is the first token of segment
 * k; returns `length` values.
 */
export function spreadOverTokens(
  advantages: ArrayLike<number>,
  starts: ArrayLike<number>,
  length: number,
): Float32Array {
  const tokens = new Float32Array(length)
  for (let k = 0; k < starts.length; k++) tokens.fill(advantages[k], starts[k], starts[k + 1] ?? length)
  return tokens
}

/** Utterances in order; all arrays have length T. */
export interface ArcherSteps {
  rewards: ArrayLike<number>
  /** Target critic's value of the state after the utterance. */
  nextValues: ArrayLike<number>
  /** 1 if the episode terminates here; 0 for a truncated episode, which bootstraps. */
  terminated: ArrayLike<number | boolean>
}

/**
 * Targets of the critic over utterances: `r + gamma * V(next state)`, or `r` at the end. Both twin Q functions are
 * regressed on it; V is regressed on the smaller Q of an utterance that the policy samples in the state.
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
 * Hierarchical credit assignment: the advantage of a whole utterance by the critic over utterances, `min(Q1, Q2) - V`,
 * is what the policy over tokens is rewarded with at its end. All tokens of the utterance share it
 * (`spreadOverTokens`), less a baseline of their own where there is one.
 *
 * Source: ArCHer (arXiv 2402.19446). With a single critic, pass the same array twice.
 *
 * @returns one advantage per utterance.
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
 * Step rewards from progress: `r_t = alpha * contribution + beta * grounding`. An estimator predicts the contribution
 * of each step and is trained so that contributions sum to the outcome (`stepProgressLoss`). Grounding is 1 for an
 * action that could be executed, otherwise 0. Pass the result to `gae`.
 *
 * Source: SPA-RL (arXiv 2505.20732). Defaults: alpha 1, beta 0.5.
 *
 * @param grounding 1 or true for actions that could be executed. Default: only contributions are rewarded.
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
 * The loss of the progress estimator: the mean over episodes of `(sum of contributions - outcome)^2`.
 *
 * Source: SPA-RL (arXiv 2505.20732).
 *
 * @param contributions of the steps of each episode; an episode without steps has sum 0.
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
 * The critic's loss: the weighted sum of half the squared error, `(V - return)^2 / 2`. With `clip`, the loss of a value
 * is the larger of that and the loss of the value clipped to within `clip` of the old one.
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
    /** Values before the update; used only with `clip`. */
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
