import { defined } from '../../defined.ts'
import { uniformAt } from '../../engine/random/index.ts'
import { AgogeError } from '../../error.ts'
import type { GrammarCursor } from '../grammar/cursor.ts'
import type {
  SampleOptions,
  SampleOutput,
  SampleRequest,
  GenerationSettings,
  TokenLogprob,
} from '../model-backend.ts'
import type { TransformerConfig } from '../model/config.ts'
import { tinyProbability } from '../model/head.ts'
import { drawKept, drawToken, likeliestToken, likeliestTokens, truncate, truncates } from './draw.ts'
import type { StopWatch } from './token-reader.ts'

/** The settings of a request: its own override those of the call. */
export function settingsOf(request: SampleRequest, options: SampleOptions): GenerationSettings {
  const { prompt: _prompt, key: _key, ...own } = request
  const { signal: _signal, onToken: _onToken, ...common } = options
  return { ...common, ...own }
}

/** Whether any of these rows needs the texts of tokens. */
export function needsTexts(requests: readonly SampleRequest[], options: SampleOptions): boolean {
  return [options, ...requests].some(
    ({ grammar, stopSequences }) =>
      grammar !== undefined || stopSequences?.some((sequence) => typeof sequence === 'string') === true,
  )
}

/**
 * Throws `AgogeError` for invalid settings or prompts, naming the first. `hasTexts`: whether the texts of tokens are
 * known.
 */
export function checkRequests(
  requests: readonly SampleRequest[],
  options: SampleOptions,
  config: TransformerConfig,
  hasTexts: boolean,
): void {
  checkSettings(settingsOf({ prompt: new Int32Array(), key: 0 }, options), 'the call', hasTexts)
  for (const [i, request] of requests.entries()) {
    checkSettings(settingsOf(request, options), `request ${i}`, hasTexts)
    const { prompt } = request
    if (prompt.length === 0 || prompt.length >= config.max_position_embeddings) {
      throw new AgogeError(`prompt ${i} does not fit the model's window`, {
        code: 'sequence-too-long',
        given: prompt.length,
        expected: `1 to ${config.max_position_embeddings - 1} tokens`,
      })
    }
    const wrong = prompt.find((id) => id < 0 || id >= config.vocab_size)
    if (wrong === undefined) continue
    throw new AgogeError(`prompt ${i} has a token outside the vocabulary`, {
      code: 'bad-token',
      given: wrong,
      expected: `ids from 0 to ${config.vocab_size - 1}`,
    })
  }
}

/** Dividing logits by less soon gives non-finite numbers. */
const leastTemperature = 1e-6

const isCount = (value: number, least: number): boolean => Number.isInteger(value) && value >= least

function checkSettings(settings: GenerationSettings, whose: string, hasTexts: boolean): void {
  const { maxTokens, temperature, topK = 1, topP = 1, minP = 0, topLogprobs = 0 } = settings
  const refuse = (given: unknown, expected: string, hint?: string): never => {
    throw new AgogeError(`the sampling options of ${whose} cannot be used`, {
      code: 'bad-sampling-options',
      given,
      expected,
      ...defined({ hint }),
    })
  }
  if (temperature !== 0 && !(temperature >= leastTemperature && temperature < Infinity))
    refuse({ temperature }, `a temperature of 0, which is greedy, or of ${leastTemperature} and more`)
  if (!(maxTokens >= 1)) refuse({ maxTokens }, 'at least one token')
  if (!isCount(topK, 1)) refuse({ topK }, 'a whole number from 1; leave it out for all tokens')
  if (!(topP > 0 && topP <= 1)) refuse({ topP }, 'a number above 0 and at most 1')
  if (!(minP >= 0 && minP <= 1)) refuse({ minP }, 'a number from 0 to 1')
  if (!isCount(topLogprobs, 0)) refuse({ topLogprobs }, 'a whole number from 0')
  const sequences = settings.stopSequences ?? []
  if (sequences.some(({ length }) => length === 0))
    refuse({ stopSequences: sequences }, 'stop sequences of at least one token or character')
  if (hasTexts) return
  const hint = 'give the backend the tokenizer of the model'
  if (settings.grammar !== undefined)
    refuse({ grammar: settings.grammar }, 'a backend with a tokenizer', hint)
  if (sequences.some((sequence) => typeof sequence === 'string'))
    refuse({ stopSequences: sequences }, 'token ids, or a backend with a tokenizer', hint)
}

/** A row that is being sampled. */
export interface Row {
  readonly request: SampleRequest
  readonly settings: GenerationSettings
  /** Most tokens that it may have. */
  readonly limit: number
  readonly watch: StopWatch
  readonly cursor: GrammarCursor | undefined
  /** Its slot in the cache; -1 while it waits. */
  slot: number
  tokens: number[]
  logprobs: number[]
  drawnLogprobs: number[]
  topLogprobs: TokenLogprob[][]
  finish?: 'stop' | 'length'
}

export interface Distributions {
  /** [rows, vocabulary] */
  probabilities: Float32Array
  /** Tempered logits; present if a row has a grammar. */
  logits?: Float32Array
}

/** The factor of a row's logits. Greedy rows are reported at temperature 1. */
export const inverseTemperature = ({ temperature }: GenerationSettings): number =>
  temperature === 0 ? 1 : 1 / temperature

const logOf = (probability: number): number => Math.log(Math.max(probability, tinyProbability))

/** Weights of the tokens that a grammar allows. */
let allowed = new Float32Array(0)

/** Draws the next token of a row from distribution `place`, and ends the row if it is complete. */
export function drawNext(row: Row, { probabilities, logits }: Distributions, place: number, size: number) {
  const { request, settings, tokens, cursor } = row
  const greedy = settings.temperature === 0
  // A single NaN logit makes the whole distribution NaN, and any token could be drawn.
  if (Number.isNaN(probabilities[place * size])) throw notFinite(request)
  let weights = probabilities
  let start = place * size
  if (cursor !== undefined && logits !== undefined) {
    if (allowed.length !== size) allowed = new Float32Array(size)
    weights = allowed
    const stop = cursor.accepting ? settings.stop : []
    if (!weigh(logits.subarray(start, start + size), maskOf(row, cursor), stop, weights))
      throw stuck(settings, tokens)
    start = 0
  }
  const isCut = cursor !== undefined || (!greedy && truncates(settings, size))
  const kept = isCut ? truncate(weights, start, size, greedy ? {} : settings) : undefined
  const uniform = () => uniformAt(settings.seed, request.key, request.prompt.length + tokens.length)
  const token = greedy
    ? likeliestToken(weights, start, size)
    : kept === undefined
      ? drawToken(weights, start, size, uniform())
      : drawKept(weights, start, size, kept, uniform())
  const logprobOf = (id: number): number => logOf(probabilities[place * size + id])
  tokens.push(token)
  row.logprobs.push(logprobOf(token))
  if (kept !== undefined) row.drawnLogprobs.push(Math.log(weights[start + token] / kept.mass))
  if (settings.topLogprobs) {
    const best = likeliestTokens(probabilities, place * size, size, settings.topLogprobs)
    row.topLogprobs.push(best.map((id) => ({ token: id, logprob: logprobOf(id) })))
  }
  if (row.watch.ends(token)) row.finish = 'stop'
  else if (cursor !== undefined) {
    cursor.advance(token)
    // Without stop ids a row ends if no token can follow, or none that completes the grammar within the limit.
    if (settings.stop.length === 0 && cursor.accepting) {
      if (cursor.complete) row.finish = 'stop'
      else if (maskOf(row, cursor).every((word) => word === 0)) row.finish = 'length'
    }
  }
  if (row.finish === undefined && tokens.length >= row.limit) row.finish = 'length'
}

/** The tokens that may come next so that the row can still end within its limit, counting the stop id. */
function maskOf({ limit, tokens, settings }: Row, cursor: GrammarCursor): Uint32Array {
  return cursor.mask(limit - tokens.length - 1 - Math.min(1, settings.stop.length))
}

/**
 * Writes the weights of the tokens in `mask` and `more` relative to the most probable of them, and 0 for all others.
 * Returns false if there is none.
 */
function weigh(
  logits: Float32Array,
  mask: Uint32Array,
  more: readonly number[],
  into: Float32Array,
): boolean {
  into.fill(0)
  let most = -Infinity
  const visit = (id: number): void => {
    into[id] = 1
    if (logits[id] > most) most = logits[id]
  }
  for (let word = 0; word < mask.length; word++)
    for (let bits = mask[word]; bits !== 0; bits &= bits - 1) visit(word * 32 + 31 - Math.clz32(bits & -bits))
  for (const id of more) visit(id)
  if (most === -Infinity) return false
  for (let id = 0; id < into.length; id++) if (into[id] === 1) into[id] = Math.exp(logits[id] - most)
  return true
}

function notFinite({ key, prompt }: SampleRequest): AgogeError {
  return new AgogeError('the model gives no distribution to draw from: its logits are not finite', {
    code: 'non-finite-logits',
    given: { key, promptTokens: prompt.length },
    expected: 'finite weights, not so large that their products overflow',
    hint: 'go back to the last checkpoint, and lower the learning rate or clip the gradient',
  })
}

function stuck({ grammar, stop }: GenerationSettings, tokens: readonly number[]): AgogeError {
  return new AgogeError('no token of the model can continue as the grammar requires', {
    code: 'grammar-stuck',
    given: { grammar, tokens, stop },
    expected: 'a vocabulary in which every byte is a token, and the markers that the grammar names',
  })
}

export function outputOf(row: Row, weightVersion: number): SampleOutput {
  const { tokens, logprobs, drawnLogprobs, topLogprobs, finish = 'length' } = row
  return {
    tokens: Int32Array.from(tokens),
    logprobs: Float32Array.from(logprobs),
    ...(drawnLogprobs.length > 0 && { drawnLogprobs: Float32Array.from(drawnLogprobs) }),
    ...(topLogprobs.length > 0 && { topLogprobs }),
    finish,
    weightVersion,
  }
}
