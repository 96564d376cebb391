import type { TrainingSequence } from '../../episode/types.ts'
import { AgogeError } from '../../../error.ts'
import type { LossSettings } from '../../model-backend.ts'
import { hasWeights, toDatum } from './datums.ts'
import type { ForwardBackwardInput } from './wire.ts'

export type ScoredSequence = Pick<TrainingSequence, 'tokens' | 'temperatures'>

/**
 * The protocol has a temperature in sampling and none in training, so that another server than Agoge's would score tokens by another
 * distribution than the one they were drawn from, and every ratio would be off.
 *
 * @throws AgogeError `unsupported-temperature`
 */
export function checkUntempered(sequences: readonly ScoredSequence[]): void {
  for (const [i, { temperatures }] of sequences.entries()) {
    const odd = temperatures?.find((temperature) => temperature !== 1)
    if (odd === undefined) continue
    throw new AgogeError(
      `Sequence ${i} was sampled at a temperature that the Tinker protocol cannot train at`,
      {
        code: 'unsupported-temperature',
        given: odd,
        expected: 'temperature 1, or 0 where samples are compared and not trained',
        hint: 'Sample at temperature 1, or train with the local backend or against `agoge serve --tinker`, which know temperatures',
      },
    )
  }
}

/** The clips as the protocol has them: bounds of the ratio itself. */
export function lossConfig({
  name,
  clipLow = 0.2,
  clipHigh = 0.2,
}: LossSettings): Record<string, number> | null {
  if (name === 'ppo') return { clip_low_threshold: 1 - clipLow, clip_high_threshold: 1 + clipHigh }
  if (name === 'cispo') return { clip_low_threshold: 0, clip_high_threshold: 1 + clipHigh }
  return null
}

/**
 * Whether the loss can be told in the plain protocol in one request: its losses of reinforcement learning know advantages but no
 * weights, and none of them mixes imitation or a divergence in.
 */
export function fitsOneRequest(sequences: readonly TrainingSequence[], { name }: LossSettings): boolean {
  return name === 'cross_entropy'
    ? !hasWeights(sequences, 'kl')
    : !hasWeights(sequences, 'ce') && !hasWeights(sequences, 'kl')
}

/**
 * `forward_backward_input` of the plain protocol. A weight of reinforcement learning is folded into the advantage, which all of
 * these losses are linear in.
 */
export function plainInput(sequences: readonly TrainingSequence[], loss: LossSettings): ForwardBackwardInput {
  const data = sequences.map(({ tokens, logprobs, advantages, weights }, i) => {
    if (loss.name === 'cross_entropy') return toDatum(tokens, { weights: weights.ce })
    const negative = weights.rl.find((weight) => weight < 0)
    if (negative !== undefined) {
      throw new AgogeError(`training sequence ${i} has a negative rl weight`, {
        code: 'unsupported-weights',
        given: negative,
        expected: 'weights of 0 or more, which can be folded into the advantages',
      })
    }
    return toDatum(tokens, { logprobs, advantages: advantages.map((value, t) => value * weights.rl[t]) })
  })
  return { data, loss_fn: loss.name, loss_fn_config: lossConfig(loss) }
}

/** `forward_backward_input` as Agoge's own server understands it: every weight as it is. */
export function extendedInput(
  sequences: readonly TrainingSequence[],
  loss: LossSettings,
): ForwardBackwardInput {
  const withDivergence = hasWeights(sequences, 'kl')
  const data = sequences.map(({ tokens, logprobs, advantages, weights, temperatures }) => {
    const kl = {
      ...(withDivergence && { kl_weights: weights.kl }),
      ...(temperatures && { temperatures }),
    }
    return loss.name === 'cross_entropy'
      ? toDatum(tokens, { weights: weights.ce, ...(withDivergence ? { logprobs } : {}), ...kl })
      : toDatum(tokens, { logprobs, advantages, weights: weights.rl, ce_weights: weights.ce, ...kl })
  })
  return { data, loss_fn: loss.name, loss_fn_config: lossConfig(loss) }
}

/** A forward pass: cross-entropy in which no token counts. */
export function forwardInput(sequences: readonly ScoredSequence[]): ForwardBackwardInput {
  return {
    data: sequences.map(({ tokens, temperatures }) =>
      toDatum(tokens, { weights: new Float32Array(tokens.length), ...(temperatures && { temperatures }) }),
    ),
    loss_fn: 'cross_entropy',
    loss_fn_config: null,
  }
}
