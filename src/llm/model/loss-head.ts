import { gradients, mul, reshape, sub, sum } from '../../engine/tensor/index.ts'
import type { Dim, Tensor } from '../../engine/tensor/index.ts'
import type { LossName } from '../model-backend.ts'
import type { TransformerConfig } from './config.ts'
import { tokenLogprobs } from './head.ts'
import { tracedLoss } from './losses.ts'

/**
 * Inputs of `lossHead` besides the hidden states and the output matrix: per predicted token [N], and the clips; with a bonus for
 * entropy also its coefficient.
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
 * From the last block's states of the predicted tokens [N, width] to the loss (scalar), logprobs [N] and entropy [N], and back: the
 * gradients of the states [N, width] and of the output matrix, `matrix` [vocabulary, width] and `targetRows` [N, width], which are to
 * be added to the rows of the targets. With a bonus, the loss is less by `entropyCoefficient` times the sum of rl weight * entropy.
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
  const head = tokenLogprobs(hidden, take('head'), take('targets'), inverse, config)
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
