import type { TrainingSequence } from '../../episode/types.ts'
import { AgogeError } from '../../../error.ts'
import type { ModelBackend } from '../../model-backend.ts'
import type { Answer } from './types.ts'

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
