export interface KlPenalty {
  /** First weight of the divergence in the loss. */
  beta: number
  /** Divergence of an update that is aimed at, in nats. */
  target: number
}

/**
 * The weight of a KL penalty that adapts (Schulman et al. 2017, arXiv:1707.06347, section 4): halved where an update
 * changed the policy by less than target / 1.5, doubled where by more than target * 1.5.
 */
export const adaptBeta = (beta: number, kl: number, target: number): number =>
  kl < target / 1.5 ? beta / 2 : kl > target * 1.5 ? beta * 2 : beta
