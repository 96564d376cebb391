import {
  add,
  gather,
  log,
  matmul,
  maximum,
  mul,
  neg,
  sub,
  softmax,
  sum,
  takeAlong,
} from '../../engine/tensor/index.ts'
import type { Tensor } from '../../engine/tensor/index.ts'
import type { TransformerConfig } from './config.ts'
import { linear, normalise } from './layers.ts'

/** Below this a probability is not told from zero: the smallest log-probability reported is -87.3. */
export const tinyProbability = 1.2e-38

/**
 * Final norm and output matrix, the norm's gain folded into it. hidden: [rows, width]; matrix: [vocabulary, width].
 * Gives logits [rows, vocabulary].
 */
export function logits(hidden: Tensor, matrix: Tensor, config: TransformerConfig): Tensor {
  return linear(normalise(hidden, config.rms_norm_eps).y, matrix).y
}

/**
 * Log-probability of a target token for every row, with the entropy of its distribution, and the pullback written
 * so that the wide [rows, vocabulary] array is passed over only by its softmax and two matrix products.
 * hidden: [rows, width]; matrix as for `logits`; targets: int32 [rows]; inverse: [rows, 1], what the
 * logits are multiplied by, 1 / temperature.
 */
export function tokenLogprobs(
  hidden: Tensor,
  matrix: Tensor,
  targets: Tensor,
  inverse: Tensor,
  config: TransformerConfig,
) {
  const normal = normalise(hidden, config.rms_norm_eps)
  // Times 1 is exact, so that at temperature 1 nothing differs in any bit.
  const unit = mul(normal.y, inverse)
  const probabilities = softmax(matmul(unit, matrix, { transposeB: true }))
  const logprobs = log(maximum(takeAlong(probabilities, targets), tinyProbability))
  const last = { axes: [-1] }
  return {
    logprobs,
    /** In nats [rows], for those who want no gradient. */
    entropies: (): Tensor =>
      neg(sum(mul(probabilities, log(maximum(probabilities, tinyProbability))), { axes: [-1] })),
    /**
     * From the gradient of each log-probability [rows]. The gradient of the output matrix comes in two parts:
     * `matrix` [vocabulary, width], and `targetRows` [rows, width], to be added to the rows of the targets.
     * `entropy` [rows] in nats comes with it because it reuses its products.
     */
    pullback(weights: Tensor, column: (x: Tensor) => Tensor) {
      const expected = matmul(probabilities, matrix)
      const chosen = gather(matrix, targets, 0)
      const targetLogit = sum(mul(unit, chosen), last)
      const expectedLogit = sum(mul(unit, expected), last)
      const weighted = mul(unit, column(weights))
      return {
        hidden: normal.pullback(mul(mul(column(weights), inverse), sub(chosen, expected))),
        matrix: neg(matmul(probabilities, weighted, { transposeA: true })),
        targetRows: weighted,
        // log Z - E[logit], with log Z = logit of the target - its log-probability.
        entropy: sub(sub(targetLogit, logprobs), expectedLogit),
      }
    },
    /**
     * As `pullback`, of a loss that has also `-bonus * entropy` of every row, bonus [rows], by d entropy / d logit =
     * -p (log p + entropy). It passes over the wide array some times more.
     */
    pullbackWithEntropy(weights: Tensor, bonus: Tensor, column: (x: Tensor) => Tensor) {
      const logs = log(maximum(probabilities, tinyProbability))
      const entropy = neg(sum(mul(probabilities, logs), last))
      const ofEntropy = mul(column(bonus), add(logs, column(entropy)))
      const wide = mul(probabilities, sub(ofEntropy, column(weights)))
      const chosen = gather(matrix, targets, 0)
      return {
        hidden: normal.pullback(mul(inverse, add(mul(column(weights), chosen), matmul(wide, matrix)))),
        matrix: matmul(wide, unit, { transposeA: true }),
        targetRows: mul(unit, column(weights)),
        entropy,
      }
    },
  }
}
