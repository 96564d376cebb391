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

/** Loss of one pair, its gradients, and by how much the chosen answer is ahead. */
interface PairLoss {
  loss: number
  chosen: number
  rejected: number
  ahead: number
}

/** The weighted sum over `count` pairs that all losses of pairs share; the default weight is 1 / count. */
export function sumPairs(
  count: number,
  weights: ArrayLike<number> | undefined,
  pair: (i: number) => PairLoss,
): PreferenceValue {
  const chosen = new Float32Array(count)
  const rejected = new Float32Array(count)
  let value = 0
  let counted = 0
  let right = 0
  for (let i = 0; i < count; i++) {
    const weight = weights === undefined ? 1 / count : weights[i]
    if (weight === 0) continue
    const result = pair(i)
    value += weight * result.loss
    chosen[i] = weight * result.chosen
    rejected[i] = weight * result.rejected
    counted++
    if (result.ahead > 0) right++
  }
  return { value, chosen, rejected, accuracy: counted === 0 ? 0 : right / counted }
}

/** How much more the policy moved towards the chosen than towards the rejected answer of pair i, in nats. */
export function marginOf(pairs: PreferencePairs, i: number): number {
  return pairs.chosen[i] - pairs.referenceChosen[i] - (pairs.rejected[i] - pairs.referenceRejected[i])
}
