import type { TrainingSequence } from '../episode/types.ts'
import type { ModelBackend, SampleOptions } from '../model-backend.ts'

/** What a language model said to a prompt, without any environment. */
export interface SampledAnswer {
  prompt: Int32Array
  tokens: Int32Array
  /** One a token, of the distribution it was drawn from. */
  logprobs: Float32Array
  finish: 'stop' | 'length'
  weightVersion: number
  /** What it was drawn at; 1 unless told. */
  temperature?: number
}

/** All items at once to numbers, so that models can batch; `null` = could not be judged. */
export type Scorer<T> = (
  items: readonly T[],
) => readonly (number | null)[] | Promise<readonly (number | null)[]>

/**
 * Answers to prompts, `groupSize` to each. `name` keys the random streams: it must differ between steps and stay the same on a repeat.
 *
 * @returns one array of answers for each prompt, in their order.
 */
export async function sampleAnswers(
  backend: Pick<ModelBackend, 'sample'>,
  prompts: readonly Int32Array[],
  settings: Omit<SampleOptions, 'temperature'> & { name: string; groupSize?: number; temperature?: number },
): Promise<SampledAnswer[][]> {
  const { name, groupSize = 1, temperature = 1, ...options } = settings
  const requests = prompts.flatMap((prompt, at) =>
    Array.from({ length: groupSize }, (_, member) => ({ prompt, key: `${name}/${at}/${member}` })),
  )
  const outputs = await backend.sample(requests, { ...options, temperature })
  const answers = outputs.map((output, i) => ({ ...output, prompt: requests[i].prompt, temperature }))
  return prompts.map((_, at) => answers.slice(at * groupSize, (at + 1) * groupSize))
}

/** What is learnt from of an answer; the rest may come along. */
type Said = Pick<SampledAnswer, 'prompt' | 'tokens' | 'logprobs'> & Partial<SampledAnswer>

/** An answer as a row for the trainer, at the temperature it was drawn at: what the model said has weight 1, its advantage is 0 as yet. */
export function answerSequence(answer: Said): TrainingSequence {
  const { prompt, tokens, logprobs, temperature = 1 } = answer
  const length = prompt.length + tokens.length
  const row: TrainingSequence = {
    tokens: new Int32Array(length),
    logprobs: new Float32Array(length),
    advantages: new Float32Array(length),
    weights: { rl: new Float32Array(length), ce: new Float32Array(length), kl: new Float32Array(length) },
  }
  row.tokens.set(prompt)
  row.tokens.set(tokens, prompt.length)
  row.logprobs.set(logprobs, prompt.length)
  row.weights.rl.fill(1, prompt.length)
  // Greedy choice is reported at temperature 1.
  if (temperature === 0 || temperature === 1) return row
  return {
    ...row,
    temperatures: new Float32Array(length).fill(1, 0, prompt.length).fill(temperature, prompt.length),
  }
}

/** With its credit: one advantage for all tokens of the answer or one each, and their weight in a loss of policies. */
export function creditedSequence(
  answer: Said,
  { advantage, weight }: { advantage: number | ArrayLike<number>; weight: number },
): TrainingSequence {
  const row = answerSequence(answer)
  const start = answer.prompt.length
  row.weights.rl.fill(weight, start)
  if (typeof advantage === 'number') row.advantages.fill(advantage, start)
  else row.advantages.set(advantage, start)
  return row
}

/** An answer that somebody gave, to be imitated: cross-entropy of `weight` a token, 1 unless told. */
export function imitationSequence(
  { prompt, tokens }: Pick<SampledAnswer, 'prompt' | 'tokens'>,
  { weight = 1 }: { weight?: number } = {},
): TrainingSequence {
  const row = answerSequence({ prompt, tokens, logprobs: new Float32Array(tokens.length) })
  row.weights.rl.fill(0)
  row.weights.ce.fill(weight, prompt.length)
  return row
}
