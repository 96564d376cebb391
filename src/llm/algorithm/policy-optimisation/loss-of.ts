import type { LossSettings } from '../../model-backend.ts'
import type { CustomLoss } from '../../backend/custom-loss.ts'
import { combineLosses, crossEntropyLoss, highEntropyWeights } from '../losses/imitation.ts'
import { klLoss, sampledEntropyLoss, unbiasedKlLoss } from '../losses/regularisers.ts'
import { offPolicyMask } from '../losses/corrections.ts'
import { overTokens, type TokenLoss } from '../losses/over-tokens.ts'
import type { LossDefinition } from '../define.ts'
import type { CurrentSettings } from './coefficients.ts'
import type { KlSettings } from './settings.ts'

/**
 * The loss of the settings: one that backends compute in one pass where there is such a one, else a custom one.
 *
 * @param rows.references log-probabilities of the sequences under the reference, where the divergence is in the loss.
 * @param rows.sampled those under the sampler, where the trainer's have taken their place in the sequences.
 */
export function lossOf(
  definition: LossDefinition,
  { loss, kl, entropy, exactEntropy, offPolicyMask: threshold, sftHighEntropy = false }: CurrentSettings,
  { references, sampled }: { references?: readonly Float32Array[]; sampled?: readonly Float32Array[] } = {},
): LossSettings | CustomLoss {
  const divergence = kl?.place === 'loss' ? divergenceOf(kl) : undefined
  const plain =
    divergence === undefined && threshold === undefined && entropy === undefined && !sftHighEntropy
  const own = plain ? definition.backend?.(loss) : undefined
  const bonus = exactEntropy === undefined ? {} : { entropyCoefficient: exactEntropy }
  if (own !== undefined) return { ...own, ...bonus }
  const ofTokens: TokenLoss = (inputs) => definition.compute(inputs, loss)
  const policy = entropy === undefined ? ofTokens : withEntropy(ofTokens, entropy)
  const rl: TokenLoss =
    threshold === undefined
      ? policy
      : (inputs) => {
          const samplerLogprobs =
            sampled === undefined ? inputs.samplerLogprobs : sampled.flatMap((row) => Array.from(row))
          return policy({
            ...inputs,
            weights: offPolicyMask({ ...inputs, samplerLogprobs }, { threshold }),
          })
        }
  return overTokens({
    rl,
    ...(divergence === undefined ? {} : { kl: divergence }),
    ...(sftHighEntropy ? { ce: sftOnHighEntropy } : {}),
    ...(references === undefined ? {} : { references }),
    ...bonus,
  })
}

/** Whether a token without advantage has a gradient, so that it must be computed. */
export function movesWithoutAdvantage(
  definition: LossDefinition,
  { kl, entropy, exactEntropy }: CurrentSettings,
): boolean {
  const bonus = entropy !== undefined || exactEntropy !== undefined
  return definition.movesWithoutAdvantage === true || kl?.place === 'loss' || bonus
}

function withEntropy(policy: TokenLoss, coefficient: number): TokenLoss {
  return (inputs) =>
    combineLosses([
      { loss: policy(inputs), coefficient: 1 },
      { loss: sampledEntropyLoss(inputs), coefficient },
    ])
}

const sftOnHighEntropy: TokenLoss = (inputs) =>
  crossEntropyLoss({ ...inputs, weights: highEntropyWeights(inputs.logprobs, inputs.weights) })

function divergenceOf({ estimator }: KlSettings): TokenLoss {
  return estimator === 'unbiased-k3' ? unbiasedKlLoss : (inputs) => klLoss(inputs, estimator)
}
