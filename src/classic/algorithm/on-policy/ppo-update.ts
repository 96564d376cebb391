import {
  type AdamInPlace,
  type AdamState,
  countParameters,
  createAdam,
  createParameters,
  type Objective,
  type ParameterSet,
  type ParameterSpec,
} from '../../../engine/nn/index.ts'
import type { Random } from '../../../engine/random/index.ts'
import {
  add,
  exp,
  type HostTensor,
  maximum,
  mean,
  minimum,
  mul,
  neg,
  reshape,
  square,
  sub,
  type Tensor,
} from '../../../engine/tensor/index.ts'
import type { ActionDistribution } from '../../policy/index.ts'
import type { UpdateMetrics } from '../agent.ts'
import { applyGradient, meanMetrics, scalars } from '../gradient-step.ts'

/** An adaptive KL penalty, as in section 4 of the PPO paper (Schulman et al. 2017, arXiv:1707.06347). */
export interface KlPenalty {
  /** Initial weight of the KL divergence in the loss. */
  beta: number
  /** Target KL divergence of one update, in nats. */
  target: number
}

/**
 * Returns the weight of the adaptive KL penalty for the next update (Schulman et al. 2017, arXiv:1707.06347, section
 * 4). It halves if `kl` of this update is below target / 1.5, and doubles if `kl` is above target * 1.5.
 */
export const adaptBeta = (beta: number, kl: number, target: number): number =>
  kl < target / 1.5 ? beta / 2 : kl > target * 1.5 ? beta * 2 : beta

export interface PpoLossConfig {
  /**
   * Value loss. True: half the mean squared error, with the change of the value clipped, as in OpenAI's code. False: the
   * mean squared error.
   */
  clipValue: boolean
  /** Weight of the entropy bonus. */
  entropy: number
  /** Weight of the value loss. */
  valueWeight: number
  /** Uses a KL penalty in place of the clipped ratio. Default: the clipped ratio. */
  klPenalty?: KlPenalty
}

/** Metrics that the loss computes. */
type PpoMetric = 'policyLoss' | 'valueLoss' | 'entropy' | 'kl'

/**
 * The PPO loss of a minibatch with R rows.
 *
 * @param prediction what the current policy gives: parameters of the action distribution [R, p] and values [R, 1].
 * @param inputs of the rollout: actions [R, k]; logprobs, values, advantages and returns, each [R]; maskPenalty [R, n]
 *   if actions are masked. Also clip [1], and beta [1] for a KL penalty.
 */
export function ppoMinibatchLoss(
  { clipValue, entropy, valueWeight, klPenalty }: PpoLossConfig,
  distribution: ActionDistribution,
  prediction: { parameters: Tensor; values: Tensor },
  inputs: Record<string, Tensor>,
): { loss: Tensor; outputs: Record<PpoMetric, Tensor> } {
  const { advantages, returns, clip, maskPenalty } = inputs
  const logRatio = sub(
    distribution.logprob(prediction.parameters, inputs['actions'], maskPenalty),
    inputs['logprobs'],
  )
  const ratio = exp(logRatio)
  // Schulman's k3 estimator of KL(old, new): unbiased and never negative.
  const kl = mean(sub(sub(ratio, 1), logRatio))
  const clippedRatio = minimum(maximum(ratio, sub(1, clip)), add(1, clip))
  const surrogate = mul(ratio, advantages)
  const policyLoss =
    klPenalty === undefined
      ? neg(mean(minimum(surrogate, mul(clippedRatio, advantages))))
      : sub(mul(kl, reshape(inputs['beta'], [])), mean(surrogate))
  const values = reshape(prediction.values, returns.shape)
  const squaredError = square(sub(values, returns))
  const valueChange = sub(values, inputs['values'])
  const clippedValues = add(inputs['values'], minimum(maximum(valueChange, neg(clip)), clip))
  const valueLoss = mul(
    mean(clipValue ? maximum(squaredError, square(sub(clippedValues, returns))) : squaredError),
    clipValue ? 0.5 : 1,
  )
  const meanEntropy = mean(distribution.entropy(prediction.parameters, maskPenalty))
  return {
    loss: add(sub(policyLoss, mul(meanEntropy, entropy)), mul(valueLoss, valueWeight)),
    outputs: { policyLoss, valueLoss, entropy: meanEntropy, kl },
  }
}

export interface PpoUpdateConfig {
  epochs: number
  learningRate: number
  clip: number
  maxGradientNorm: number
  /** Which of these fall linearly to 0 over the training. */
  anneal: readonly ('learningRate' | 'clip')[]
  /**
   * Early stopping: an update ends before the minibatch whose estimated KL divergence from the rollout's policy exceeds
   * 1.5 times this. Default: no early stopping.
   */
  targetKl?: number
  klPenalty?: KlPenalty
}

interface PpoUpdateState {
  adam: AdamState
  beta: number
}

/** The parameters of a policy, in the memory of their Adam. */
export function createPpoParameters(
  specs: Readonly<Record<string, ParameterSpec>>,
  random: Random,
  { maxGradientNorm }: Pick<PpoUpdateConfig, 'maxGradientNorm'>,
): { parameters: ParameterSet; adam: AdamInPlace } {
  const adam = createAdam(countParameters(specs), { epsilon: 1e-5, maxGradientNorm })
  return { parameters: createParameters(specs, random, adam.own.parameters), adam }
}

/** Makes the update of PPO: some epochs over the minibatches of a rollout. It keeps the state of Adam and of beta. */
export function createPpoUpdate(
  config: PpoUpdateConfig,
  { parameters, adam }: ReturnType<typeof createPpoParameters>,
  objective: Objective<PpoMetric>,
) {
  let beta = config.klPenalty?.beta ?? 0
  const scalar = (value: number): HostTensor => ({ data: Float32Array.of(value), shape: [1] })
  return {
    /**
     * Makes one update.
     *
     * @param remaining share of the training that is left, 1 to 0.
     * @param minibatches called once per epoch.
     */
    async run(
      remaining: number,
      minibatches: () => Iterable<Record<string, HostTensor>>,
    ): Promise<UpdateMetrics> {
      const learningRate = config.learningRate * (config.anneal.includes('learningRate') ? remaining : 1)
      const clip = config.clip * (config.anneal.includes('clip') ? remaining : 1)
      const metrics = meanMetrics()
      let kl = 0
      updating: for (let epoch = 0; epoch < config.epochs; epoch++) {
        for (const batch of minibatches()) {
          const { loss, outputs } = await objective.evaluate(parameters, {
            ...batch,
            clip: scalar(clip),
            beta: scalar(beta),
          })
          kl = outputs.kl.data[0]
          if (config.targetKl !== undefined && kl > 1.5 * config.targetKl) break updating
          const stepMetrics = applyGradient(adam, parameters, objective.gradient, learningRate)
          metrics.add({ loss, ...stepMetrics, ...scalars(outputs) })
        }
      }
      if (config.klPenalty !== undefined) beta = adaptBeta(beta, kl, config.klPenalty.target)
      return metrics.mean()
    },
    state: (): PpoUpdateState => ({ adam: adam.state(), beta }),
    restore(state: PpoUpdateState): void {
      adam.restore(state.adam)
      beta = state.beta
    },
  }
}
