/**
 * Credit by segments: what a segment changed of the expected outcome, `A_k = V_(k+1) - V_k`, the last
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
