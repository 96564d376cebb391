import { add, gather, log, matmul, maximum, mul, neg, sub, softmax, sum, takeAlong } from '../tensor/index.ts'
import type { Tensor } from '../tensor/index.ts'
import type { TransformerConfig } from './config.ts'
import { linear, normalise } from './layers.ts'

/** Below this a probability is not told from zero: the smallest log-probability reported is -87.3. */
const tinyProbability = 1.2e-38

/** Final norm and output matrix with its gain folded in. hidden: [rows, width] -> logits [rows, vocabulary]. */
export function logits(hidden: Tensor, norm: Tensor, matrix: Tensor, config: TransformerConfig): Tensor {
  return linear(normalise(hidden, config.rms_norm_eps).y, mul(matrix, norm)).y
}

/**
 * Log-probability of a target token for every row, with the entropy of its distribution, and the pullback written
 * so that the wide [rows, vocabulary] array is passed over only by its softmax and two matrix products.
 * hidden: [rows, width]; matrix: [vocabulary, width]; targets: int32 [rows].
 */
export function tokenLogprobs(
  hidden: Tensor,
  norm: Tensor,
  matrix: Tensor,
  targets: Tensor,
  config: TransformerConfig,
) {
  const normal = normalise(hidden, config.rms_norm_eps)
  const gained = mul(matrix, norm)
  const probabilities = softmax(matmul(normal.y, gained, { transposeB: true }))
  const logprobs = log(maximum(takeAlong(probabilities, targets), tinyProbability))
  const last = { axes: [-1] }
  return {
    logprobs,
    /**
     * From the gradient of each log-probability [rows]. The gradient of the output matrix comes in two parts:
     * `matrix` [vocabulary, width], and `targetRows` [rows, width], to be added to the rows of the targets.
     * `entropy` [rows] in nats comes with it because it reuses its products.
     */
    pullback(weights: Tensor, column: (x: Tensor) => Tensor) {
      const expected = matmul(probabilities, gained)
      const chosen = gather(gained, targets, 0)
      const targetLogit = sum(mul(normal.y, chosen), last)
      const expectedLogit = sum(mul(normal.y, expected), last)
      const weighted = mul(normal.y, column(weights))
      const dense = neg(matmul(probabilities, weighted, { transposeA: true }))
      return {
        hidden: normal.pullback(mul(column(weights), sub(chosen, expected))),
        matrix: mul(dense, norm),
        targetRows: mul(weighted, norm),
        norm: add(
          sum(mul(dense, matrix), { axes: [0] }),
          sum(mul(weighted, gather(matrix, targets, 0)), { axes: [0] }),
        ),
        // log Z - E[logit], with log Z = logit of the target - its log-probability.
        entropy: sub(sub(targetLogit, logprobs), expectedLogit),
      }
    },
  }
}
