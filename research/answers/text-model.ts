import { createLocalBackend, type LocalBackend, type SampledAnswer } from 'agoge/llm'
import { createSymbols, type Symbols } from './chains.ts'

/** A transformer that reads and writes characters. */
export interface TextModel {
  backend: LocalBackend
  symbols: Symbols
}

export interface TextModelOptions {
  /** Every character that prompts and answers may have. */
  alphabet: string
  /** Of the initial weights. */
  seed: number
  /** Default 32; a multiple of four times the two heads. */
  width?: number
  /** Default 2. */
  layers?: number
  /** Tokens of prompt and answer together; default 32. */
  window?: number
}

/**
 * A model small enough that a step of learning takes some hundredths of a second on one thread. Default: 17 thousand weights.
 * For experiments that ask which way to learn is better, not how much a model can know. Dispose of its backend.
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

/** A copy of all weights, to go back to by `restoreWeights`. */
export const copyWeights = ({ backend }: TextModel): Float32Array => backend.parameters.data.slice()

/** Puts weights in the place of the model's, and forgets what the optimiser remembers. */
export function restoreWeights({ backend }: TextModel, weights: Float32Array): void {
  backend.parameters.data.set(weights)
  backend.weightsChanged()
  backend.resetOptimizer()
}

/**
 * Makes a model, from its seed or with the weights given, uses it and disposes of it.
 *
 * @returns what `use` does.
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

/** Log-probabilities under a model (natural, at temperature 1) of the tokens of answers, whoever gave them; one array an answer. */
export async function answerLogprobs(
  { backend }: TextModel,
  answers: readonly Pick<SampledAnswer, 'prompt' | 'tokens'>[],
): Promise<Float32Array[]> {
  const rows = await backend.forward(answers.map(({ prompt, tokens }) => Int32Array.of(...prompt, ...tokens)))
  return rows.map((row, i) => row.slice(answers[i].prompt.length))
}

/** What the settings a computation depends on are: as of an arm of a paper. */
export interface Run {
  seed: number
  budget: Readonly<Record<string, number>>
  signal?: AbortSignal
}

/** A computation that several arms of a paper begin with, done once for each run in a process, whatever its signal. */
export function remember<R extends Run, T>(make: (run: R) => Promise<T>): (run: R) => Promise<T> {
  const made = new Map<string, Promise<T>>()
  return (run) => {
    const key = JSON.stringify({ ...run, signal: undefined })
    const known = made.get(key) ?? make(run)
    made.set(key, known)
    return known
  }
}
