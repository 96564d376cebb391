/**
 * How per-token losses become one number.
 * - `token-mean`: every token of the batch counts the same (DAPO, verl's default).
 * - `sequence-mean`: the mean over sequences of each one's token mean (the GRPO paper).
 * - `constant`: the sum divided by sequences times a fixed length (Dr.GRPO): no reward for being long or short.
 *   With `length: 1` it is the mean over sequences of each one's token sum.
 *
 * Elsewhere: TRL's `loss_type` dapo, grpo and dr_grpo; verl's `loss_agg_mode` token-mean, seq-mean-token-mean,
 * seq-mean-token-sum (`length: 1`) and seq-mean-token-sum-norm, which divides by the length alone, not by the sequences.
 * TRL and verl count sequences without trained tokens among the sequences, this does not.
 */
export type Aggregation =
  | { mode: 'token-mean' }
  | { mode: 'sequence-mean' }
  | { mode: 'constant'; length: number }

/**
 * The weight of one token of each sequence, normaliser folded in, so that a plain weighted sum gives the aggregate.
 * Micro-batches and several machines then add up to the same gradient.
 *
 * @param lengths trained tokens of each sequence; sequences without any count for nothing.
 */
export function tokenWeights(lengths: readonly number[], aggregation: Aggregation): number[] {
  const sequences = lengths.filter((length) => length > 0).length
  const tokens = lengths.reduce((sum, length) => sum + length, 0)
  return lengths.map((length) => {
    if (length === 0) return 0
    if (aggregation.mode === 'token-mean') return 1 / tokens
    if (aggregation.mode === 'sequence-mean') return 1 / (sequences * length)
    return 1 / (sequences * aggregation.length)
  })
}
