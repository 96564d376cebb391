import { AgogeError } from 'agoge'
import { createLocalBackend, type LocalBackend } from 'agoge/llm'

/** A vocabulary of single characters: id 0 ends an answer, followed by the characters of the alphabet in order. */
export interface Symbols {
  /** Number of ids. */
  size: number
  end: number
  /** @throws AgogeError `bad-symbol` for a character that is not in the alphabet. */
  encode(text: string): Int32Array
  /** Text up to the first end token. */
  decode(tokens: ArrayLike<number>): string
}

export function createSymbols(alphabet: string): Symbols {
  const characters = Array.from(alphabet)
  const ids = new Map(characters.map((character, i) => [character, i + 1]))
  return {
    size: characters.length + 1,
    end: 0,
    encode: (text) =>
      Int32Array.from(text, (character) => {
        const id = ids.get(character)
        if (id !== undefined) return id
        throw new AgogeError('A text has a character that the vocabulary lacks', {
          code: 'bad-symbol',
          given: character,
          expected: `one of ${alphabet}`,
        })
      }),
    decode(tokens) {
      let text = ''
      for (let i = 0; i < tokens.length && tokens[i] !== 0; i++) text += characters[tokens[i] - 1]
      return text
    },
  }
}

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
