import type { PreferencePairs } from './types.ts'

/** How much more the policy moved towards the chosen than towards the rejected answer of pair i, in nats. */
export function marginOf(pairs: PreferencePairs, i: number): number {
  return pairs.chosen[i] - pairs.referenceChosen[i] - (pairs.rejected[i] - pairs.referenceRejected[i])
}
