export interface GaeSettings {
  /** Discount of future rewards, 0 to 1. */
  gamma: number
  /** Weight of longer estimates, 0 (one step) to 1 (the whole return). */
  lambda: number
}

export interface GaeSteps {
  /** Inputs of `gae`. Every array has length T. */
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
