/**
 * Pairs of answers to the same prompt, one number a pair: log-probabilities (natural) of the whole answer, summed over
 * its tokens, under the policy being trained and under the reference.
 */
export interface PreferencePairs {
  chosen: ArrayLike<number>
  rejected: ArrayLike<number>
  referenceChosen: ArrayLike<number>
  referenceRejected: ArrayLike<number>
  /** Of each pair; 0 = does not count. Default: 1 / pairs, the mean. */
  weights?: ArrayLike<number>
}

/** A loss over pairs with its exact gradient; a token's share of a sum is the sequence's, of a mean that / length. */
export interface PreferenceValue {
  value: number
  /** d value / d chosen[i]. */
  chosen: Float32Array
  /** d value / d rejected[i]. */
  rejected: Float32Array
  /** Share of the counted pairs whose chosen answer is ahead by the loss's own score; 0 where none counts. */
  accuracy: number
}
