import type { LossSettings } from '../../model-backend.ts'
import type { CustomLoss } from '../../backend/custom-loss.ts'
import { cispoLoss } from '../losses/cispo.ts'
import { combineLosses, crossEntropyLoss, highEntropyWeights } from '../losses/imitation.ts'
import { dppoLoss } from '../losses/dppo.ts'
import { gspoLoss } from '../losses/gspo.ts'
import { importanceSamplingLoss, ppoLoss } from '../losses/ppo.ts'
import { kimiLoss } from '../losses/kimi.ts'
import { klLoss, sampledEntropyLoss, unbiasedKlLoss } from '../losses/regularisers.ts'
import { offPolicyMask } from '../losses/corrections.ts'
import { sapoLoss } from '../losses/sapo.ts'
import { toprLoss } from '../losses/topr.ts'
import { overTokens, type TokenLoss } from '../losses/over-tokens.ts'
import type { CurrentSettings } from './coefficients.ts'
import type { KlSettings, PolicyLossSettings } from './settings.ts'

/**
 * The loss of the settings: one that backends compute in one pass where there is such a one, else a custom one.
 *
 * @param rows.references log-probabilities of the sequences under the reference, where the divergence is in the loss.
 * @param rows.sampled those under the sampler, where the trainer's have taken their place in the sequences.
 */
export function lossOf(
  { loss, kl, entropy, exactEntropy, offPolicyMask: threshold, sftHighEntropy = false }: CurrentSettings,
  { references, sampled }: { references?: readonly Float32Array[]; sampled?: readonly Float32Array[] } = {},
): LossSettings | CustomLoss {
  const divergence = kl?.place === 'loss' ? divergenceOf(kl) : undefined
  const plain =
    divergence === undefined && threshold === undefined && entropy === undefined && !sftHighEntropy
  const own = plain ? backendLoss(loss) : undefined
  const bonus = exactEntropy === undefined ? {} : { entropyCoefficient: exactEntropy }
  if (own !== undefined) return { ...own, ...bonus }
  const policy = entropy === undefined ? tokenLossOf(loss) : withEntropy(tokenLossOf(loss), entropy)
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

/** Whether a token without advantage has a slope, so that it must be computed. */
export function movesWithoutAdvantage({ loss, kl, entropy, exactEntropy }: CurrentSettings): boolean {
  const bonus = entropy !== undefined || exactEntropy !== undefined
  return loss.name === 'kimi' || kl?.place === 'loss' || bonus
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

function backendLoss(loss: PolicyLossSettings): LossSettings | undefined {
  if (loss.name === 'importance-sampling') return { name: 'importance_sampling' }
  if (loss.name === 'ppo' && loss.dualClip === undefined)
    return { name: 'ppo', clipLow: loss.clipLow, clipHigh: loss.clipHigh }
  if (loss.name === 'cispo' && loss.convention === 'trl') return { name: 'cispo', clipHigh: loss.cap - 1 }
  return undefined
}

function tokenLossOf(loss: PolicyLossSettings): TokenLoss {
  switch (loss.name) {
    case 'ppo':
      return (inputs) => ppoLoss(inputs, loss)
    case 'importance-sampling':
      return importanceSamplingLoss
    case 'cispo':
      return (inputs) => cispoLoss(inputs, loss)
    case 'gspo':
      return (inputs) => gspoLoss(inputs, loss)
    case 'sapo':
      return (inputs) => sapoLoss(inputs, loss)
    case 'topr':
      return (inputs) => toprLoss(inputs, loss)
    case 'dppo':
      return (inputs) => dppoLoss(inputs, loss)
    case 'kimi':
      return (inputs) => kimiLoss(inputs, loss)
  }
}

function divergenceOf({ estimator }: KlSettings): TokenLoss {
  return estimator === 'unbiased-k3' ? unbiasedKlLoss : (inputs) => klLoss(inputs, estimator)
}
