import { defined } from '../../../defined.ts'
import type { CustomLoss } from '../../backend/custom-loss.ts'
import type { TrainingSequence } from '../../episode/types.ts'
import { combineLosses, crossEntropyLoss } from './imitation.ts'
import type { LossValue, SequenceLossInputs } from './tokens.ts'

/** The tokens of all sequences of a batch, one sequence after another. */
export interface TokenInputs extends SequenceLossInputs {
  /** Log-probabilities under a reference model; zeros if the loss has no reference. */
  referenceLogprobs: Float32Array
}

/** A loss of `losses/`, or any other pure function with this signature. */
export type TokenLoss = (inputs: TokenInputs) => LossValue

/**
 * Combines losses over flat token arrays into one custom loss for any backend (`forwardBackward`). `rl` uses the rl
 * weights of the tokens, `kl` their kl weights, and `ce` their ce weights (default: cross-entropy, as in the backend's
 * own losses). Each training sequence is one sequence of the loss: the whole conversation, unless a window split it.
 *
 * @param losses.references log-probabilities under a reference, from `forward` of its backend, for the same sequences
 * in the same order.
 * @param losses.entropyCoefficient coefficient of the exact entropy bonus over the rl weights, see `CustomLossValue`.
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

/** Index of the first token of each sequence in the flat array, followed by the array's length. */
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
