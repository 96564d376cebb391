import {
  add,
  type Dim,
  exp,
  gather,
  gradients,
  less,
  log,
  matmul,
  maximum,
  minimum,
  mul,
  neg,
  reshape,
  softmax,
  stopGradient,
  sub,
  sum,
  takeAlong,
  type Tensor,
  where,
} from '../../engine/tensor/index.ts'
import type { LossName } from '../model-backend.ts'
import type { TransformerConfig } from './config.ts'
import { linear, normalise } from './layers.ts'
import { factorsOf } from './low-rank.ts'
import type { Factors } from './low-rank.ts'

/** Inputs of a loss over tokens, all [tokens] except the two clips, which are [1]. */
interface TensorLossInputs {
  /** Log-probabilities under the trained weights. */
  logprobs: Tensor
  /** Log-probabilities under the sampling policy. */
  sampled: Tensor
  advantages: Tensor
  rl: Tensor
  ce: Tensor
  kl: Tensor
  clipLow: Tensor
  clipHigh: Tensor
}

/** Largest absolute log-probability difference that is exponentiated, as in `algorithm/losses`. */
const logRatioLimit = 20

/** Clamps to the limit. Beyond it the result is constant and its gradient is 0. */
function clamped(difference: Tensor): Tensor {
  return minimum(maximum(difference, -logRatioLimit), logRatioLimit)
}

function objective(name: LossName, inputs: TensorLossInputs): Tensor | undefined {
  if (name === 'cross_entropy') return undefined
  const { logprobs, sampled, advantages } = inputs
  const ratio = exp(clamped(sub(logprobs, sampled)))
  const plain = mul(ratio, advantages)
  if (name === 'importance_sampling') return plain
  const cap = add(inputs.clipHigh, 1)
  if (name === 'cispo') return mul(mul(stopGradient(minimum(ratio, cap)), advantages), logprobs)
  const clipped = mul(minimum(maximum(ratio, sub(1, inputs.clipLow)), cap), advantages)
  // `where` instead of `minimum`: at ratio 1 both arguments are equal, and the gradient must pass exactly once.
  return where(less(clipped, plain), clipped, plain)
}

/**
 * The weighted sum over tokens, a scalar:
 * - `ce`: -logprob
 * - `rl`: -ratio * A (importance_sampling); -min(ratio * A, clip(ratio) * A) (ppo, Schulman et al. 2017, with the
 * separate bounds of DAPO, Yu et al. 2025); -stop(min(ratio, 1 + clipHigh)) * A * logprob (cispo, MiniMax 2025) with
 * ratios from log-ratios clamped to +-20
 * - `kl`: r - 1 - log r with r = sampled / trained probability (k3, Schulman 2020), which is 0 if both agree
 */
function tracedLoss(name: LossName, inputs: TensorLossInputs): Tensor {
  const cross = mul(inputs.ce, neg(inputs.logprobs))
  const difference = clamped(sub(inputs.sampled, inputs.logprobs))
  const divergence = mul(inputs.kl, sub(sub(exp(difference), 1), difference))
  const reward = objective(name, inputs)
  const total = add(cross, divergence)
  return sum(reward === undefined ? total : sub(total, mul(inputs.rl, reward)))
}

/** Smaller probabilities count as zero: the lowest log-probability reported is -87.3. */
export const tinyProbability = 1.2e-38

/**
 * Final norm and output matrix, with the norm's gain folded into the matrix. hidden: [rows, width]; matrix:
 * [vocabulary, width]. Returns logits [rows, vocabulary].
 */
export function logits(hidden: Tensor, matrix: Tensor, config: TransformerConfig): Tensor {
  return linear(normalise(hidden, config.rms_norm_eps).y, matrix).y
}

/**
 * Log-probability of a target token for every row, with the entropy of its distribution. In the pullback, only the
 * softmax and two matrix products pass over the wide [rows, vocabulary] array. hidden: [rows, width]; matrix as for
 * `logits`; targets: int32 [rows]; inverse: [rows, 1], the factor of the logits, 1 / temperature; factors: of an
 * adapter that the matrix includes.
 */
export function tokenLogprobs(
  hidden: Tensor,
  matrix: Tensor,
  targets: Tensor,
  inverse: Tensor,
  config: TransformerConfig,
  factors?: Factors,
) {
  const normal = normalise(hidden, config.rms_norm_eps)
  // Multiplying by 1 is exact, so temperature 1 gives identical bits.
  const unit = mul(normal.y, inverse)
  const probabilities = softmax(matmul(unit, matrix, { transposeB: true }))
  const logprobs = log(maximum(takeAlong(probabilities, targets), tinyProbability))
  const last = { axes: [-1] }
  /** The gradient of the logits is `factor * wide`, with `atTargets` [rows, 1] added at the targets. */
  const pullFactors = ({ a, b }: Factors, wide: Tensor, factor: Tensor | number, atTargets: Tensor) => {
    const narrow = matmul(unit, a, { transposeB: true })
    const back = add(mul(matmul(wide, b), factor), mul(gather(b, targets, 0), atTargets))
    return {
      'head.a': matmul(back, unit, { transposeA: true }),
      'head.b': matmul(mul(narrow, factor), wide, { transposeA: true }),
      targetRows: mul(narrow, atTargets),
    }
  }
  return {
    logprobs,
    /** Entropy in nats [rows], without a gradient. */
    entropies: (): Tensor =>
      neg(sum(mul(probabilities, log(maximum(probabilities, tinyProbability))), { axes: [-1] })),
    /**
     * Takes the gradient of each log-probability [rows]. Returns the gradient of the output matrix in two parts:
     * `head` [vocabulary, width], and `targetRows` [rows, width], to add to the rows of the targets. With factors these
     * are `head.a` [rank, width], `head.b` [rank, vocabulary] and `targetRows` [rows, rank], to add to the columns of
     * the targets in `head.b`. Also returns `entropy` [rows] in nats, which reuses its products.
     */
    pullback(weights: Tensor, column: (x: Tensor) => Tensor) {
      const expected = matmul(probabilities, matrix)
      const chosen = gather(matrix, targets, 0)
      const targetLogit = sum(mul(unit, chosen), last)
      const expectedLogit = sum(mul(unit, expected), last)
      const weighted = mul(unit, column(weights))
      return {
        hidden: normal.pullback(mul(mul(column(weights), inverse), sub(chosen, expected))),
        ...(factors === undefined
          ? { head: neg(matmul(probabilities, weighted, { transposeA: true })), targetRows: weighted }
          : pullFactors(factors, probabilities, neg(column(weights)), column(weights))),
        // log Z - E[logit], with log Z = logit of the target - its log-probability.
        entropy: sub(sub(targetLogit, logprobs), expectedLogit),
      }
    },
    /**
     * Like `pullback`, for a loss that also contains `-bonus * entropy` of every row, bonus [rows]. Uses d entropy / d
     * logit = -p (log p + entropy), and takes a few more passes over the wide array.
     */
    pullbackWithEntropy(weights: Tensor, bonus: Tensor, column: (x: Tensor) => Tensor) {
      const logs = log(maximum(probabilities, tinyProbability))
      const entropy = neg(sum(mul(probabilities, logs), last))
      const ofEntropy = mul(column(bonus), add(logs, column(entropy)))
      const wide = mul(probabilities, sub(ofEntropy, column(weights)))
      const chosen = gather(matrix, targets, 0)
      return {
        hidden: normal.pullback(mul(inverse, add(mul(column(weights), chosen), matmul(wide, matrix)))),
        ...(factors === undefined
          ? { head: matmul(wide, unit, { transposeA: true }), targetRows: mul(unit, column(weights)) }
          : pullFactors(factors, wide, 1, column(weights))),
        entropy,
      }
    },
  }
}

/**
 * Inputs of `lossHead` besides the hidden states and the output matrix: arrays per predicted token [N], the clips, and
 * with an entropy bonus its coefficient.
 */
export const lossInputs = (entropyBonus: boolean): Record<string, { shape: Dim[]; dtype?: 'int32' }> => ({
  ...Object.fromEntries(
    ['sampled', 'advantages', 'rl', 'ce', 'kl', 'inverseTemperatures'].map((key) => [key, { shape: ['N'] }]),
  ),
  targets: { shape: ['N'], dtype: 'int32' },
  clipLow: { shape: [1] },
  clipHigh: { shape: [1] },
  ...(entropyBonus && { entropyCoefficient: { shape: [1] } }),
})

/**
 * From the last block's states of the predicted tokens [N, width] to the loss (scalar), logprobs [N] and entropy [N],
 * and their gradients: that of the states [N, width] and those of the output matrix or its factors, as in
 * `tokenLogprobs`. With a bonus, subtracts `entropyCoefficient * sum(rl
 * weight * entropy)`.
 */
export function lossHead(
  name: LossName,
  hidden: Tensor,
  inputs: Record<string, Tensor>,
  config: TransformerConfig,
  entropyBonus: boolean,
) {
  const take = (key: string): Tensor => inputs[key]
  const column = (x: Tensor): Tensor => reshape(x, ['N', 1])
  const inverse = column(take('inverseTemperatures'))
  const head = tokenLogprobs(
    hidden,
    take('head'),
    take('targets'),
    inverse,
    config,
    factorsOf(inputs, 'head'),
  )
  const { logprobs } = head
  const loss = tracedLoss(name, {
    logprobs,
    sampled: take('sampled'),
    advantages: take('advantages'),
    rl: take('rl'),
    ce: take('ce'),
    kl: take('kl'),
    clipLow: take('clipLow'),
    clipHigh: take('clipHigh'),
  })
  const [gradient] = gradients(loss, [logprobs])
  if (!entropyBonus) return { loss, logprobs, ...head.pullback(gradient, column) }
  const bonus = mul(take('rl'), take('entropyCoefficient'))
  const made = head.pullbackWithEntropy(gradient, bonus, column)
  return { ...made, loss: sub(loss, sum(mul(bonus, made.entropy))), logprobs }
}
