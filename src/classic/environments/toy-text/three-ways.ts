/**
 * Which of three outcomes a uniform draw in [0, 1) falls on, by the rule of Gymnasium's `categorical_sample`: the first
 * whose cumulative probability is above the draw, and the first of all where rounding leaves none.
 */
export function threeWays(first: number, second: number, third: number, draw: number): 0 | 1 | 2 {
  if (first > draw) return 0
  if (first + second > draw) return 1
  return first + second + third > draw ? 2 : 0
}
