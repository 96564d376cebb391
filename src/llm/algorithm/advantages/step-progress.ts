/**
 * Rewards of steps by progress: an estimator, trained so that its contributions add up to the outcome
 * (`stepProgressLoss`), says what each step brought; `r_t = alpha * contribution + beta * grounding`, where grounding
 * is 1 for an action that could be executed and 0 for one that could not. Feed the result to `gae`.
 *
 * Source: SPA-RL (arXiv 2505.20732). Defaults alpha 1, beta 0.5.
 *
 * @param grounding 1 or true for actions that could be executed; without it only the contributions are paid.
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
