import { rowSize } from '../environment/index.ts'
import type { AnyVector } from '../environment/index.ts'
import { compileObjective } from '../../engine/nn/index.ts'
import type { Objective } from '../../engine/nn/index.ts'
import type { ActorCritic } from '../policy/index.ts'
import { add, mean, mul, neg, reshape, square, sub } from '../../engine/tensor/index.ts'

export interface PolicyGradientConfig {
  entropy: number
  /** Weight of the squared error of the value; 0: no value is learned. */
  valueWeight: number
}

/** Figures of a policy gradient. */
export type PolicyGradientMetric = 'policyLoss' | 'valueLoss' | 'entropy'

/**
 * -mean(advantage log pi(a|s)) - entropy bonus + valueWeight mean((V(s) - return)^2), for rows of observations,
 * actions, advantages and returns, and maskPenalty where the environment masks actions.
 */
export function compilePolicyGradient(
  environment: AnyVector,
  policy: ActorCritic,
  options: PolicyGradientConfig & { name: string; threads: number },
): Promise<Objective<PolicyGradientMetric>> {
  const { name, threads, entropy, valueWeight } = options
  const choices = environment.actionMask.length / environment.numEnvs.count
  return compileObjective<PolicyGradientMetric>({
    name,
    threads,
    parameters: Object.fromEntries(Object.entries(policy.specs).map(([key, { shape }]) => [key, shape])),
    inputs: {
      observations: { shape: ['B', rowSize(environment.definition.observation)] },
      actions: { shape: ['B', policy.distribution.actionSize] },
      advantages: { shape: ['B'] },
      returns: { shape: ['B'] },
      ...(choices > 0 ? { maskPenalty: { shape: ['B', choices] } } : {}),
    },
    trace(weights, { observations, actions, advantages, returns, maskPenalty }) {
      const found = policy.trace(weights, observations)
      const logprob = policy.distribution.logprob(found.parameters, actions, maskPenalty)
      const policyLoss = neg(mean(mul(logprob, advantages)))
      const meanEntropy = mean(policy.distribution.entropy(found.parameters, maskPenalty))
      const valueLoss = mean(square(sub(reshape(found.values, ['B']), returns)))
      const actorLoss = sub(policyLoss, mul(meanEntropy, entropy))
      return {
        loss: valueWeight === 0 ? actorLoss : add(actorLoss, mul(valueLoss, valueWeight)),
        outputs: { policyLoss, valueLoss, entropy: meanEntropy },
      }
    },
  })
}
