import type { PreferenceValue } from './types.ts'

/** Loss of one pair, its slopes, and by how much the chosen answer is ahead. */
export interface PairLoss {
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
