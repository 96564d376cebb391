import { defined } from '../../defined.ts'
import type { TrainingSequence } from '../episode/types.ts'
import { AgogeError } from '../../error.ts'
import type { LossReport, LossSettings, ModelBackend } from '../model-backend.ts'
import { addTokens, createLossSums, lossReport, scoreSequences } from './loss-report.ts'

/** The result of a custom loss for a batch. */
export interface CustomLossValue {
  /** The value to minimise: a sum that includes its normaliser, like the built-in losses. */
  loss: number
  /** d loss / d log-probability of every token: one array per sequence, with the sequence's length. Index 0 is ignored. */
  gradients: readonly Float32Array[]
  /**
   * The exact entropy bonus of `LossSettings`, with the rl weights of the sequences. Not part of `loss` and
   * `gradients`.
   */
  entropyCoefficient?: number
  /** Metrics to record. `clipFraction` is reported as that of the loss. */
  metrics?: Record<string, number>
}

/**
 * Any function of the log-probabilities of tokens under the trained weights, at the sequences' temperatures. There is
 * one array per sequence; index t belongs to token t given those before it, and index 0 is 0. Other inputs (advantages,
 * weights, sampler log-probabilities) come from the sequences or from a closure (reference log-probabilities). The
 * function must be pure; it is called once per batch.
 */
export type CustomLoss = (
  logprobs: readonly Float32Array[],
  sequences: readonly TrainingSequence[],
) => CustomLossValue

/** The report of a loss, with the metrics that a custom loss returned. */
export interface CustomLossReport extends LossReport {
  metrics?: Record<string, number>
}

type LearningBackend = Pick<ModelBackend, 'forward' | 'forwardBackward'>

/**
 * Adds the gradient of a loss to the backend's gradient. The loss is built-in, by its settings, or custom. A custom
 * loss takes two passes on every backend: `forward` computes the log-probabilities, the loss returns its gradient for
 * each of them, and cross-entropy with the negative gradients as weights has exactly that gradient. The Tinker protocol
 * calls this `forward_backward_custom`.
 *
 * @throws AgogeError `non-finite-loss`, naming the sequences, if loss or gradients are not finite. A custom loss has
 * then added nothing to the gradient; a built-in loss has made it invalid. `shape-mismatch` if gradients have the wrong
 * lengths.
 */
export async function forwardBackward(
  backend: LearningBackend,
  sequences: TrainingSequence[],
  loss: LossSettings | CustomLoss,
  options: { signal?: AbortSignal } = {},
): Promise<CustomLossReport> {
  if (typeof loss === 'function') return forwardBackwardCustom(backend, sequences, loss, options)
  const report = await backend.forwardBackward(sequences, loss, options)
  if (!Number.isFinite(report.loss)) throw await nonFinite(backend, sequences, report.loss)
  return report
}

async function forwardBackwardCustom(
  backend: LearningBackend,
  sequences: TrainingSequence[],
  loss: CustomLoss,
  options: { signal?: AbortSignal },
): Promise<CustomLossReport> {
  const logprobs = await scoreSequences(backend, sequences, options)
  const value = loss(logprobs, sequences)
  checkShapes(value, sequences)
  const spoilt = value.gradients.flatMap((derivatives, i) => (derivatives.every(Number.isFinite) ? [] : [i]))
  if (spoilt.length > 0 || !Number.isFinite(value.loss)) throw notFinite(value.loss, spoilt)
  const { entropyCoefficient = 0 } = value
  const bonus = entropyCoefficient === 0 ? {} : { entropyCoefficient }
  const trained = sequences.flatMap((sequence, i) =>
    asCrossEntropy(sequence, value.gradients[i], entropyCoefficient !== 0),
  )
  const passed: Pick<LossReport, 'tokens' | 'entropy' | 'entropyBonus'> =
    trained.length === 0
      ? { tokens: 0, entropy: 0 }
      : await backend.forwardBackward(trained, { name: 'cross_entropy', ...bonus }, options)
  const sums = createLossSums()
  for (const [i, { logprobs: sampled, weights }] of sequences.entries())
    addTokens(sums, { logprobs: logprobs[i], sampled, rl: weights.rl })
  return {
    ...lossReport([sums]),
    loss: value.loss - (passed.entropyBonus ?? 0),
    ...defined({ entropyBonus: passed.entropyBonus }),
    tokens: passed.tokens,
    entropy: passed.entropy,
    clipFraction: value.metrics?.['clipFraction'] ?? 0,
    ...defined({ metrics: value.metrics }),
  }
}

/**
 * The sequence whose cross-entropy has these gradients. Keeps its rl weights for an entropy bonus. Empty if all
 * gradients are 0.
 */
function asCrossEntropy(
  sequence: TrainingSequence,
  derivatives: Float32Array,
  bonus: boolean,
): TrainingSequence[] {
  const zeros = new Float32Array(sequence.tokens.length)
  const ce = Float32Array.from(derivatives, (derivative, t) => (t === 0 ? 0 : -derivative))
  const rl = bonus ? sequence.weights.rl : zeros
  if ([...ce, ...rl].every((weight) => weight === 0)) return []
  return [{ ...sequence, weights: { rl, ce, kl: zeros } }]
}

function checkShapes({ gradients }: CustomLossValue, sequences: readonly TrainingSequence[]): void {
  if (gradients.length !== sequences.length)
    throw badShape('arrays of gradients', gradients.length, sequences.length)
  for (const [i, { tokens }] of sequences.entries())
    if (gradients[i].length !== tokens.length)
      throw badShape(`gradients of sequence ${i}`, gradients[i].length, tokens.length)
}

function badShape(what: string, given: number, expected: number): AgogeError {
  return new AgogeError(`The custom loss gave the wrong number of ${what}`, {
    code: 'shape-mismatch',
    given,
    expected: `${expected}: one array a sequence, one value a token, zeros where nothing is trained`,
  })
}

/** Indices of sequences with non-finite training inputs. */
function spoiltSequences(sequences: readonly TrainingSequence[]): number[] {
  const bad = ({ logprobs, advantages, weights }: TrainingSequence): boolean =>
    [logprobs, advantages, weights.rl, weights.ce, weights.kl].some(
      (values) => !values.every(Number.isFinite),
    )
  return sequences.flatMap((sequence, i) => (bad(sequence) ? [i] : []))
}

/**
 * For backends that cannot transmit non-finite numbers.
 *
 * @throws AgogeError `non-finite-loss` naming the sequences.
 */
export function requireFinite(sequences: readonly TrainingSequence[]): void {
  const given = spoiltSequences(sequences)
  if (given.length > 0) throw notFinite(Number.NaN, given)
}

/** Finds the sequences for which the weights give non-finite results. */
async function nonFinite(
  backend: LearningBackend,
  sequences: readonly TrainingSequence[],
  loss: number,
): Promise<AgogeError> {
  const given = spoiltSequences(sequences)
  if (given.length > 0) return notFinite(loss, given)
  const logprobs = await backend
    .forward(sequences.map(({ tokens }) => tokens))
    .catch((): Float32Array[] => [])
  return notFinite(
    loss,
    logprobs.flatMap((values, i) => (values.every(Number.isFinite) ? [] : [i])),
  )
}

function notFinite(loss: number, sequences: readonly number[]): AgogeError {
  const which =
    sequences.length === 0 ? 'no single sequence stands out' : `in the sequences ${sequences.join(', ')}`
  return new AgogeError(`The loss is ${loss}: ${which}`, {
    code: 'non-finite-loss',
    given: { loss, sequences },
    expected: 'a finite number with finite gradients',
    hint: 'Lower the learning rate, clip the gradient, or look for rewards or weights that are not finite',
  })
}
