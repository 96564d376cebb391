import { mean } from './statistics.ts'

/**
 * Spearman's rank correlation of paired values, in [-1, 1], equal values sharing their mean rank; 0 where one side is
 * all equal. `scipy.stats.spearmanr`.
 */
export function rankCorrelation(a: readonly number[], b: readonly number[]): number {
  const [x, y] = [ranks(a), ranks(b)]
  const [meanX, meanY] = [mean(x), mean(y)]
  let [both, squaresX, squaresY] = [0, 0, 0]
  for (let i = 0; i < x.length; i++) {
    both += (x[i] - meanX) * (y[i] - meanY)
    squaresX += (x[i] - meanX) ** 2
    squaresY += (y[i] - meanY) ** 2
  }
  return squaresX === 0 || squaresY === 0 ? 0 : both / Math.sqrt(squaresX * squaresY)
}

/** 1 for the least. */
function ranks(values: readonly number[]): number[] {
  return values.map((value) => {
    const below = values.filter((other) => other < value).length
    const equal = values.filter((other) => other === value).length
    return below + (equal + 1) / 2
  })
}
