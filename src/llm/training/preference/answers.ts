import { AgogeError } from '../../../error.ts'
import type { TrainingSequence } from '../../episode/types.ts'
import type { ModelBackend } from '../../model-backend.ts'

/** A prompt and an answer to it, as tokens. */
export interface Answer {
  /** At least one token, since the first token of the answer needs one before it. */
  prompt: Int32Array
  tokens: Int32Array
  /**
   * Weight of each token. Default: 1. Use 0 for tokens that do not count, such as tool results between turns. The answer's
   * log-probability is the weighted sum over tokens; its length is the sum of the weights.
   */
  weights?: ArrayLike<number>
}

/** Two answers to one prompt: the preferred and the rejected one. */
export interface PreferencePair {
  prompt: Int32Array
  chosen: Int32Array
  rejected: Int32Array
  /** Token weights of the two answers, as in `Answer`. */
  weights?: { chosen: ArrayLike<number>; rejected: ArrayLike<number> }
}

/** One answer with a binary label. */
export interface LabelledAnswer extends Answer {
  desirable: boolean
}

/** Natural-log probabilities of whole answers, one number per example. */
export interface AnswerSums {
  logprobs: Float64Array
  /** Under the reference; zeros if the method has none. */
  reference: Float64Array
  lengths: Float64Array
}

export interface MethodLoss {
  /** The mean over the batch. */
  value: number
  /** d value / d log-probability: one array over the batch for each answer of an example. */
  gradients: readonly Float32Array[]
  /** Mean difference of the method's score between good and bad answers. */
  margin: number
  /** Share of the examples that the score classifies correctly. */
  accuracy: number
}

/** A preference learning method: which answers an example has, and their loss. */
export interface PreferenceMethod<Example> {
  name: string
  usesReference: boolean
  /** The answers to read for each example. The number is the same for all examples. */
  answers(examples: readonly Example[]): Answer[][]
  /** The chosen and the rejected answer to score in a validation. */
  compared(pair: PreferencePair): [Answer, Answer]
  /** Takes one `AnswerSums` for each answer of an example. */
  loss(batch: readonly AnswerSums[], examples: readonly Example[]): MethodLoss
  /** The method's score of an answer, from its log-probability, the reference's log-probability, and its length. */
  score(logprob: number, reference: number, length: number): number
}

/** Prompt and answer as one row. @throws AgogeError if one of them is empty or weights have the wrong length. */
export function rowOf({ prompt, tokens, weights }: Answer): Int32Array {
  if (
    prompt.length === 0 ||
    tokens.length === 0 ||
    (weights !== undefined && weights.length !== tokens.length)
  )
    throw new AgogeError('An answer cannot be trained on', {
      code: 'bad-answer',
      given: { prompt: prompt.length, answer: tokens.length, weights: weights?.length },
      expected: 'a prompt and an answer of at least one token each, weights one a token of the answer',
      hint: 'begin prompts with the template of the model, and end answers with its end token',
    })
  const row = new Int32Array(prompt.length + tokens.length)
  row.set(prompt)
  row.set(tokens, prompt.length)
  return row
}

/** A row with zero weights. The gradients of a custom loss determine what it trains. */
export function plainSequence(tokens: Int32Array): TrainingSequence {
  const zeros = new Float32Array(tokens.length)
  return { tokens, logprobs: zeros, advantages: zeros, weights: { rl: zeros, ce: zeros, kl: zeros } }
}

export function answerLength({ tokens, weights }: Answer): number {
  let length = 0
  for (let t = 0; t < tokens.length; t++) length += weights?.[t] ?? 1
  return length
}

/** An answer's log-probability, from the log-probabilities of its row's tokens. */
export function sumOf({ prompt, tokens, weights }: Answer, logprobs: Float32Array): number {
  let sum = 0
  for (let t = 0; t < tokens.length; t++) sum += (weights?.[t] ?? 1) * logprobs[prompt.length + t]
  return sum
}

/** The gradient of an answer's log-probability for each token of its row. */
export function spread({ prompt, tokens, weights }: Answer, gradient: number): Float32Array {
  const gradients = new Float32Array(prompt.length + tokens.length)
  for (let t = 0; t < tokens.length; t++) gradients[prompt.length + t] = gradient * (weights?.[t] ?? 1)
  return gradients
}

/** Log-probabilities of answers under a model, computed `chunk` answers at a time. */
export async function readSums(
  model: Pick<ModelBackend, 'forward'>,
  answers: readonly Answer[],
  options: { signal?: AbortSignal; chunk?: number } = {},
): Promise<Float64Array> {
  const { chunk = 128, ...abort } = options
  const sums = new Float64Array(answers.length)
  for (let start = 0; start < answers.length; start += chunk) {
    const part = answers.slice(start, start + chunk)
    const logprobs = await model.forward(part.map(rowOf), abort)
    part.forEach((answer, i) => (sums[start + i] = sumOf(answer, logprobs[i])))
  }
  return sums
}
