import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import type { SampleOptions, SampleRequest, SamplingSettings } from '../model-backend.ts'
import type { TransformerConfig } from '../model/config.ts'

/** The settings of a request: its own override those of the call. */
export function settingsOf(request: SampleRequest, options: SampleOptions): SamplingSettings {
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

function checkSettings(settings: SamplingSettings, whose: string, hasTexts: boolean): void {
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
