import { AgogeError } from '../../../error.ts'
import type { TrainingSequence } from '../../episode/types.ts'
import type { ModelBackend } from '../../model-backend.ts'

/** What was asked and what was said. */
export interface Answer {
  /** At least one token, since nothing stands before the first. */
  prompt: Int32Array
  tokens: Int32Array
  /**
   * Of each token; default 1. 0 = does not count, as what a tool said between two turns. The answer's log-probability is the
   * weighted sum, its length the sum of the weights.
   */
  weights?: ArrayLike<number>
}

/** Two answers to one prompt, the better one first. */
export interface PreferencePair {
  prompt: Int32Array
  chosen: Int32Array
  rejected: Int32Array
  /** Of the tokens of each, as of an `Answer`. */
  weights?: { chosen: ArrayLike<number>; rejected: ArrayLike<number> }
}

/** One answer that somebody liked or did not. */
export interface LabelledAnswer extends Answer {
  desirable: boolean
}

/** Log-probabilities (natural) of whole answers, one number an example. */
export interface AnswerSums {
  logprobs: Float64Array
  /** Under the reference; zeros where the method has none. */
  reference: Float64Array
  lengths: Float64Array
}

export interface MethodLoss {
  /** The mean over the batch. */
  value: number
  /** d value / d log-probability: for each answer of an example one array over the batch. */
  gradients: readonly Float32Array[]
  /** Mean difference of the method's score between good and bad answers. */
  margin: number
  /** Share of the examples that the score puts on the right side. */
  accuracy: number
}

/** A way to learn from preferences: which answers an example is made of, and what they cost. */
export interface PreferenceMethod<Example> {
  name: string
  usesReference: boolean
  /** The answers that are read for each example; the same number for all. */
  answers(examples: readonly Example[]): Answer[][]
  /** What is scored of a pair in a validation: the chosen answer, then the rejected. */
  compared(pair: PreferencePair): [Answer, Answer]
  /** One `AnswerSums` for each answer of an example. */
  loss(batch: readonly AnswerSums[], examples: readonly Example[]): MethodLoss
  /** What the method holds an answer to be worth, from its log-probability, that of the reference, and its length. */
  score(logprob: number, reference: number, length: number): number
}

/** Prompt and answer as one row. @throws AgogeError where one of them is empty or weights do not fit. */
export function rowOf({ prompt, tokens, weights }: Answer): Int32Array {
  if (
    prompt.length === 0 ||
    tokens.length === 0 ||
    (weights !== undefined && weights.length !== tokens.length)
  )
    throw new AgogeError('An answer cannot be learnt from', {
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

/** A row without any weight: what a custom loss trains in it, its slopes say. */
export function plainSequence(tokens: Int32Array): TrainingSequence {
  const zeros = new Float32Array(tokens.length)
  return { tokens, logprobs: zeros, advantages: zeros, weights: { rl: zeros, ce: zeros, kl: zeros } }
}

export function answerLength({ tokens, weights }: Answer): number {
  let length = 0
  for (let t = 0; t < tokens.length; t++) length += weights?.[t] ?? 1
  return length
}

/** The log-probability of an answer, out of those of its row's tokens. */
export function sumOf({ prompt, tokens, weights }: Answer, logprobs: Float32Array): number {
  let sum = 0
  for (let t = 0; t < tokens.length; t++) sum += (weights?.[t] ?? 1) * logprobs[prompt.length + t]
  return sum
}

/** The slope of an answer's log-probability on each token of its row. */
export function spread({ prompt, tokens, weights }: Answer, gradient: number): Float32Array {
  const gradients = new Float32Array(prompt.length + tokens.length)
  for (let t = 0; t < tokens.length; t++) gradients[prompt.length + t] = gradient * (weights?.[t] ?? 1)
  return gradients
}

/** Log-probabilities of answers under a model, read `chunk` at a time. */
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
