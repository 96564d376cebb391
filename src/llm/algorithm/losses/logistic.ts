/** 1 / (1 + exp(-x)), without overflow. */
export function sigmoid(x: number): number {
  if (x >= 0) return 1 / (1 + Math.exp(-x))
  const power = Math.exp(x)
  return power / (1 + power)
}

/** log(sigmoid(x)), exact also where the sigmoid rounds to 0 or 1. Its slope is sigmoid(-x). */
export function logSigmoid(x: number): number {
  return Math.min(0, x) - Math.log1p(Math.exp(-Math.abs(x)))
}
