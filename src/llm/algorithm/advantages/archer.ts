/** Utterances in order, all arrays of length T. */
export interface ArcherSteps {
  rewards: ArrayLike<number>
  /** Target critic's value of the state that the utterance led to. */
  nextValues: ArrayLike<number>
  /** 1 where nothing comes after; a truncated episode is 0 and bootstraps. */
  terminated: ArrayLike<number | boolean>
}

/**
 * Targets of the critic over utterances: `r + gamma * V(next state)`, without the second term at the end. Both the
 * twin Q are regressed on it; V is regressed on the smaller Q of an utterance that the policy says in the state.
 *
 * Source: ArCHer (arXiv 2402.19446), the critic over utterances.
 */
export function archerTargets(steps: ArcherSteps, { gamma }: { gamma: number }): Float32Array {
  return Float32Array.from(
    { length: steps.rewards.length },
    (_, t) => steps.rewards[t] + (steps.terminated[t] ? 0 : gamma * steps.nextValues[t]),
  )
}

/**
 * Hierarchical credit: the advantage of a whole utterance by the critic over utterances, `min(Q1, Q2) - V`, is what
 * the policy over tokens is paid at its end. All tokens of the utterance share it (`spreadOverTokens`), less a
 * baseline of their own where there is one.
 *
 * Source: ArCHer (arXiv 2402.19446). With a single critic give the same array twice.
 *
 * @returns one advantage an utterance.
 */
export function archerAdvantages(critic: {
  q1: ArrayLike<number>
  q2: ArrayLike<number>
  values: ArrayLike<number>
}): Float32Array {
  return Float32Array.from(
    { length: critic.values.length },
    (_, t) => Math.min(critic.q1[t], critic.q2[t]) - critic.values[t],
  )
}
