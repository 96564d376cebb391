import { defined } from '../../../defined.ts'
import type { CustomLoss } from '../../backend/custom-loss.ts'
import type { TrainingSequence } from '../../episode/types.ts'
import { combineLosses, crossEntropyLoss } from './imitation.ts'
import type { LossValue, SequenceLossInputs } from './tokens.ts'

/** The tokens of all sequences of a batch, one sequence after another. */
export interface TokenInputs extends SequenceLossInputs {
  /** Under a reference model, where the loss was given one; else zeros. */
  referenceLogprobs: Float32Array
}

/** A loss of `losses/`, or any other pure function of this shape. */
export type TokenLoss = (inputs: TokenInputs) => LossValue

/**
 * Makes losses over tokens in a row into one that trains through any backend (`forwardBackward` of `language`). `rl` sees
 * the tokens' rl weights, `kl` their kl weights; ce weights are imitated beside them, as in the backend's own losses, or by `ce`.
 * A training sequence is a sequence of the loss: the whole conversation, where no window parted.
 *
 * @param losses.references log-probabilities under a reference, as `forward` of its backend gives them for the same
 *   sequences in the same order.
 * @param losses.entropyCoefficient of the exact bonus for entropy over the rl weights, see `CustomLossValue`.
 * @example
 * const loss = overTokens({ rl: (inputs) => gspoLoss(inputs, { clipLow: 3e-4, clipHigh: 4e-4 }) })
 * await forwardBackward(backend, sequences, loss)
 */
export function overTokens(losses: {
  rl: TokenLoss
  kl?: TokenLoss
  ce?: TokenLoss
  references?: readonly Float32Array[]
  entropyCoefficient?: number
}): CustomLoss {
  return (logprobs, sequences) => {
    const starts = startsOf(sequences)
    const row = (of: (sequence: TrainingSequence, i: number) => Float32Array): Float32Array =>
      joined(sequences.map(of), starts)
    const inputs = {
      logprobs: joined(logprobs, starts),
      samplerLogprobs: row((sequence) => sequence.logprobs),
      advantages: row((sequence) => sequence.advantages),
      referenceLogprobs: row(({ tokens }, i) => losses.references?.[i] ?? new Float32Array(tokens.length)),
      starts: starts.slice(0, -1),
    }
    const policy = losses.rl({ ...inputs, weights: row(({ weights }) => weights.rl) })
    const divergence = losses.kl?.({ ...inputs, weights: row(({ weights }) => weights.kl) })
    const imitation = (losses.ce ?? crossEntropyLoss)({
      ...inputs,
      weights: row(({ weights }) => weights.ce),
    })
    const terms = [policy, ...(divergence === undefined ? [] : [divergence]), imitation]
    const { value, gradient } = combineLosses(terms.map((loss) => ({ loss, coefficient: 1 })))
    return {
      loss: value,
      gradients: sequences.map((_, i) => gradient.slice(starts[i], starts[i + 1])),
      ...defined({ entropyCoefficient: losses.entropyCoefficient }),
      metrics: {
        clipFraction: policy.clipFraction,
        policyLoss: policy.value,
        ...(divergence === undefined ? {} : { divergenceLoss: divergence.value }),
        ...(imitation.value === 0 ? {} : { imitationLoss: imitation.value }),
      },
    }
  }
}

/** Where each sequence begins in a row of all, and last where the row ends. */
function startsOf(sequences: readonly TrainingSequence[]): number[] {
  const starts = [0]
  for (const { tokens } of sequences) starts.push(starts[starts.length - 1] + tokens.length)
  return starts
}

function joined(parts: readonly Float32Array[], starts: readonly number[]): Float32Array {
  const row = new Float32Array(starts[starts.length - 1])
  for (const [i, part] of parts.entries()) row.set(part, starts[i])
  return row
}
