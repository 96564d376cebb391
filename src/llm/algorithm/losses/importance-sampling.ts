import { sumTokens } from './sum-tokens.ts'
import type { LossInputs, LossValue } from './types.ts'

/** The importance-weighted policy gradient, unclipped: `-ratio * A`. At ratio 1 its gradient is REINFORCE's. */
export function importanceSamplingLoss(inputs: LossInputs): LossValue {
  return sumTokens(inputs, (logRatio, advantage, difference) => {
    const loss = -Math.exp(logRatio) * advantage
    return { loss, derivative: logRatio === difference ? loss : 0 }
  })
}
