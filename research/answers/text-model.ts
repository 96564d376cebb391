import { createLocalBackend } from 'agoge/llm'
import type { LocalBackend, SampledAnswer } from 'agoge/llm'
import { createSymbols } from './chains.ts'
import type { Symbols } from './chains.ts'

/** A transformer over characters. */
export interface TextModel {
  backend: LocalBackend
  symbols: Symbols
}

export interface TextModelOptions {
  /** All characters of prompts and answers. */
  alphabet: string
  /** Seed of the initial weights. */
  seed: number
  /** Width; a multiple of 8 (four times the two heads). Default: 32. */
  width?: number
  /** Default: 2. */
  layers?: number
  /** Most tokens of prompt and answer together. Default: 32. */
  window?: number
}

/**
 * Creates a model small enough that a learning step takes a few hundredths of a second on one thread. Default: 17
 * thousand weights. For experiments that compare learning methods, not how much a model can know. Dispose of its
 * backend.
 */
export function createTextModel({
  alphabet,
  seed,
  width = 32,
  layers = 2,
  window = 32,
}: TextModelOptions): TextModel {
  const symbols = createSymbols(alphabet)
  const config = {
    vocab_size: symbols.size,
    hidden_size: width,
    num_hidden_layers: layers,
    num_attention_heads: 2,
    num_key_value_heads: 2,
    intermediate_size: 2 * width,
    rope_theta: 10_000,
    rms_norm_eps: 1e-5,
    tie_word_embeddings: true,
    max_position_embeddings: window,
  }
  return { symbols, backend: createLocalBackend({ config, seed, threads: 1, tokenBudget: 2048 }) }
}

/** A copy of all weights, for `restoreWeights`. */
export const copyWeights = ({ backend }: TextModel): Float32Array => backend.parameters.data.slice()

/** Restores weights and resets the optimiser. */
export function restoreWeights({ backend }: TextModel, weights: Float32Array): void {
  backend.parameters.data.set(weights)
  backend.weightsChanged()
  backend.resetOptimizer()
}

/**
 * Creates a model from a seed or from given weights, uses it and disposes of it.
 *
 * @returns the result of `use`.
 */
export async function withTextModel<T>(
  options: TextModelOptions & { weights?: Float32Array },
  use: (model: TextModel) => Promise<T>,
): Promise<T> {
  const model = createTextModel(options)
  try {
    if (options.weights !== undefined) restoreWeights(model, options.weights)
    return await use(model)
  } finally {
    await model.backend.dispose()
  }
}

/**
 * Natural log-probabilities under a model at temperature 1 of the tokens of answers, from any source; one array per
 * answer.
 */
export async function answerLogprobs(
  { backend }: TextModel,
  answers: readonly Pick<SampledAnswer, 'prompt' | 'tokens'>[],
): Promise<Float32Array[]> {
  const rows = await backend.forward(answers.map(({ prompt, tokens }) => Int32Array.of(...prompt, ...tokens)))
  return rows.map((row, i) => row.slice(answers[i].prompt.length))
}

/** The settings that a computation depends on: those of a run of a paper. */
export interface Run {
  seed: number
  budget: Readonly<Record<string, number>>
  signal?: AbortSignal
}

/**
 * A computation that several arms of a paper start with. It runs once per run and process, and ignores the run's abort
 * signal.
 */
export function remember<R extends Run, T>(make: (run: R) => Promise<T>): (run: R) => Promise<T> {
  const made = new Map<string, Promise<T>>()
  return (run) => {
    const key = JSON.stringify({ ...run, signal: undefined })
    const known = made.get(key) ?? make(run)
    made.set(key, known)
    return known
  }
}

/** A question with its reference solution. */
export interface Question {
  prompt: string
  solution: string
  /** Reward of a completed answer. Default: 1 for the exact solution, otherwise 0. */
  judge?: (answer: string) => number
}

/** The model's answer to a question. */
export interface Attempt<Q extends Question = Question> extends SampledAnswer {
  question: Q
  text: string
  /** 0 if the answer was cut off. */
  reward: number
}

export interface AttemptSettings {
  /** Key of the random numbers, together with the seed; different for each call. */
  name: string
  seed: number
  maxTokens: number
  /** Number of answers to each question, or to the one with this index. Default: 1. */
  groupSize?: number | ((index: number) => number)
  /** Default: 1; 0 = greedy. */
  temperature?: number
  topP?: number
  /** The prompt for the question with this index. Default: its own prompt. */
  shown?: (question: Question, index: number) => string
}

/** Samples answers of the model to each question, with rewards. */
export async function attempt<Q extends Question>(
  { backend, symbols }: TextModel,
  questions: readonly Q[],
  settings: AttemptSettings,
): Promise<Attempt<Q>[][]> {
  const { name, seed, maxTokens, temperature = 1, groupSize = 1, topP, shown } = settings
  const sizeOf = typeof groupSize === 'number' ? () => groupSize : groupSize
  const requests = questions.flatMap((question, at) => {
    const prompt = symbols.encode(shown === undefined ? question.prompt : shown(question, at))
    return Array.from({ length: sizeOf(at) }, (_, member) => ({ prompt, key: `${name}/${at}/${member}` }))
  })
  const cut = topP === undefined ? {} : { topP }
  const outputs = await backend.sample(requests, {
    seed,
    maxTokens,
    temperature,
    stop: [symbols.end],
    ...cut,
  })
  let at = 0
  return questions.map((question, i) =>
    outputs.slice(at, (at += sizeOf(i))).map((output, member) => {
      const text = symbols.decode(output.tokens)
      const { prompt } = requests[at - sizeOf(i) + member]
      return {
        ...output,
        prompt,
        temperature,
        question,
        text,
        reward: output.finish === 'stop' ? rewardOf(question, text) : 0,
      }
    }),
  )
}

/** Reward of a completed answer. */
export const rewardOf = ({ judge, solution }: Question, answer: string): number =>
  judge === undefined ? Number(answer === solution) : judge(answer)
