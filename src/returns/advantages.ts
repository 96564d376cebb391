/** Settings of `gae`. */
export interface GaeSettings {
  /** Discount of future rewards, 0 to 1. */
  gamma: number
  /** Weight of longer estimates, 0 (one step) to 1 (the whole return). */
  lambda: number
}

/** Inputs of `gae`: T consecutive steps. Every array has length T. */
export interface GaeSteps {
  /** Reward of each step. */
  rewards: ArrayLike<number>
  /** Value of the observation before each step. */
  values: ArrayLike<number>
  /** Value of the observation after each step, including the final one of an episode. */
  nextValues: ArrayLike<number>
  /** 1 where the episode terminated: nothing is bootstrapped. */
  terminated: ArrayLike<number | boolean>
  /** 1 where the episode was truncated: bootstraps from `nextValues`, and no advantage flows across the cut. */
  truncated: ArrayLike<number | boolean>
}

/**
 * Generalised advantage estimation over consecutive steps, which may span several episodes.
 *
 * Source: Schulman et al. (arXiv 1506.02438). Truncation bootstraps, termination does not.
 *
 * @returns advantages and the value targets `advantage + value`, each of length T.
 */
export function gae(
  steps: GaeSteps,
  { gamma, lambda }: GaeSettings,
): { advantages: Float32Array; returns: Float32Array } {
  const length = steps.rewards.length
  const advantages = new Float32Array(length)
  const returns = new Float32Array(length)
  let running = 0
  for (let t = length - 1; t >= 0; t--) {
    const future = steps.terminated[t] ? 0 : gamma * steps.nextValues[t]
    const delta = steps.rewards[t] + future - steps.values[t]
    running = delta + (steps.terminated[t] || steps.truncated[t] ? 0 : gamma * lambda * running)
    advantages[t] = running
    returns[t] = running + steps.values[t]
  }
  return { advantages, returns }
}

/**
 * Replaces each value by `(x - mean) / sqrt(var + 1e-8)`, with the weighted mean and the unbiased weighted variance. A value of
 * weight 3 counts as three equal values. If the total weight is below 2, all values become 0.
 *
 * Same as verl's `masked_whiten`, which has the same 1e-8 inside the root.
 */
export function whiten(values: readonly number[], weights?: readonly number[]): number[] {
  const weight = (i: number): number => weights?.[i] ?? 1
  const total = values.reduce((sum, _, i) => sum + weight(i), 0)
  if (total < 2) return values.map(() => 0)
  const mean = values.reduce((sum, value, i) => sum + weight(i) * value, 0) / total
  const squares = values.reduce((sum, value, i) => sum + weight(i) * (value - mean) ** 2, 0)
  const scale = 1 / Math.sqrt(squares / (total - 1) + 1e-8)
  return values.map((value) => (value - mean) * scale)
}

/** Subtracts the mean and divides by the unbiased standard deviation plus 1e-8, in place, as PyTorch's `std` computes it. */
export function standardise(values: Float32Array): Float32Array {
  let mean = 0
  for (let i = 0; i < values.length; i++) mean += values[i]
  mean /= values.length
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += (values[i] - mean) ** 2
  const deviation = Math.sqrt(sum / Math.max(1, values.length - 1)) + 1e-8
  for (let i = 0; i < values.length; i++) values[i] = (values[i] - mean) / deviation
  return values
}
