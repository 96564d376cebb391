import { cispoLoss } from '../../algorithm/losses/cispo.ts'
import { crossEntropyLoss } from '../../algorithm/losses/imitation.ts'
import { importanceSamplingLoss, ppoLoss } from '../../algorithm/losses/ppo.ts'
import type { CustomLoss } from '../../backend/custom-loss.ts'
import type { TrainingSequence } from '../../episode/types.ts'
import type { LossSettings } from '../../model-backend.ts'
import {
  type Fields,
  fieldsOf,
  listOf,
  numberOf,
  numbersOf,
  optionalFields,
  refuse,
  textOf,
} from './fields.ts'

/** A loss of the protocol in the engine's terms: a built-in loss (one pass) or a function of log-probabilities. */
interface EngineLoss {
  /** The argument of `forwardBackward`. */
  loss: LossSettings | CustomLoss
  /** The loss without gradient, for a forward pass. */
  value: (logprobs: readonly Float32Array[], sequences: readonly TrainingSequence[]) => number
}

/** The settings of a loss with their defaults. A setting without a default is required. */
const settingsOf: Readonly<Record<string, Readonly<Record<string, number | undefined>>>> = {
  cross_entropy: {},
  importance_sampling: {},
  ppo: { clip_low_threshold: 0.8, clip_high_threshold: 1.2 },
  cispo: { clip_low_threshold: 0, clip_high_threshold: 4 },
  dro: { beta: undefined },
}

type Inputs = Parameters<typeof ppoLoss>[0]
type TinkerTokenLoss = (inputs: Inputs) => { value: number; gradient: Float32Array; clipFraction: number }

/** @throws AgogeError `tinker-bad-request` for an unknown loss or setting. */
export function engineLoss(lossFn: string, config: Readonly<Record<string, number>>): EngineLoss {
  const defaults = Object.hasOwn(settingsOf, lossFn) ? settingsOf[lossFn] : undefined
  if (defaults === undefined) {
    throw refuse('tinker-bad-request', `There is no loss ${lossFn} here`, {
      expected: Object.keys(settingsOf).join(', '),
      hint: 'Any other loss: forward_backward_custom of the SDK, which needs cross_entropy only.',
    })
  }
  const strange = Object.keys(config).find((name) => !Object.hasOwn(defaults, name))
  if (strange !== undefined) {
    const expected = Object.keys(defaults).join(', ') || 'no settings'
    throw refuse('tinker-bad-request', `The loss ${lossFn} has no setting ${strange}`, { expected })
  }
  const setting = (name: string): number => {
    const value = config[name] ?? defaults[name]
    if (value !== undefined) return value
    throw refuse('tinker-bad-request', `The loss ${lossFn} needs the setting ${name}`)
  }
  switch (lossFn) {
    case 'cross_entropy':
      return { loss: { name: 'cross_entropy' }, value: sumOver(undefined) }
    case 'importance_sampling':
      return { loss: { name: 'importance_sampling' }, value: sumOver(importanceSamplingLoss) }
    case 'ppo': {
      const { clipLow, clipHigh } = clips(setting)
      return {
        loss: { name: 'ppo', clipLow, clipHigh },
        value: sumOver((inputs) => ppoLoss(inputs, { clipLow, clipHigh })),
      }
    }
    case 'cispo': {
      const { clipLow, clipHigh } = clips(setting)
      const token: TinkerTokenLoss = (inputs) =>
        absolute(inputs, cispoLoss(inputs, { convention: 'verl', clipLow, clipHigh }))
      // The engine's built-in loss has no lower bound of the ratio.
      const loss = setting('clip_low_threshold') <= 0 ? ({ name: 'cispo', clipHigh } as const) : custom(token)
      return { loss, value: sumOver(token) }
    }
    default: {
      const token: TinkerTokenLoss = (inputs) => droLoss(inputs, setting('beta'))
      setting('beta')
      return { loss: custom(token), value: sumOver(token) }
    }
  }
}

function clips(setting: (name: string) => number): { clipLow: number; clipHigh: number } {
  const low = setting('clip_low_threshold')
  const high = setting('clip_high_threshold')
  if (high > low && high > 0) return { clipLow: 1 - low, clipHigh: high - 1 }
  throw refuse('tinker-bad-request', 'The thresholds of the clip are the wrong way round', {
    given: { clip_low_threshold: low, clip_high_threshold: high },
    expected: 'bounds of the ratio itself, as 0.8 and 1.2',
  })
}

/** The value of `cispoLoss` is relative to the sampler; the protocol's is -clip(ratio) A logprob. The gradients are equal. */
function absolute({ logprobs }: Inputs, loss: ReturnType<TinkerTokenLoss>): ReturnType<TinkerTokenLoss> {
  return { ...loss, value: loss.gradient.reduce((sum, derivative, t) => sum + derivative * logprobs[t], 0) }
}

/** -(A logprob - beta / 2 (logprob - sampler's)^2), token by token: Richemond et al. 2024 (arXiv 2405.19107), in Tinker's form. */
function droLoss(
  { logprobs, samplerLogprobs, advantages, weights }: Inputs,
  beta: number,
): ReturnType<TinkerTokenLoss> {
  const gradient = new Float32Array(logprobs.length)
  let value = 0
  for (let t = 0; t < logprobs.length; t++) {
    const difference = logprobs[t] - samplerLogprobs[t]
    value -= weights[t] * (advantages[t] * logprobs[t] - 0.5 * beta * difference ** 2)
    gradient[t] = -weights[t] * (advantages[t] - beta * difference)
  }
  return { value, gradient, clipFraction: 0 }
}

const inputsOf = (
  logprobs: Float32Array,
  { logprobs: sampler, advantages, weights }: TrainingSequence,
): Inputs => ({
  logprobs,
  samplerLogprobs: sampler,
  advantages,
  weights: weights.rl,
})

function custom(token: TinkerTokenLoss): CustomLoss {
  return (logprobs, sequences) => {
    if (sequences.some(({ weights: { ce, kl } }) => [...ce, ...kl].some((weight) => weight !== 0)))
      throw refuse('tinker-bad-request', 'This loss mixes nothing in', {
        expected: 'no ce_weights and kl_weights',
      })
    const values = sequences.map((sequence, i) => token(inputsOf(logprobs[i], sequence)))
    return {
      loss: values.reduce((sum, { value }) => sum + value, 0),
      gradients: values.map(({ gradient }) => gradient),
    }
  }
}

function sumOver(token: TinkerTokenLoss | undefined): EngineLoss['value'] {
  return (logprobs, sequences) =>
    sequences.reduce((sum, sequence, i) => {
      const inputs = inputsOf(logprobs[i], sequence)
      const imitation = crossEntropyLoss({ ...inputs, weights: sequence.weights.ce }).value
      return sum + imitation + (token?.(inputs).value ?? 0)
    }, 0)
}

/** The supported loss inputs, those of the protocol first. */
const known = [
  'target_tokens',
  'weights',
  'logprobs',
  'advantages',
  'ce_weights',
  'kl_weights',
  'temperatures',
]

/** A validated `forward_backward_input` as plain data. Arrays cover the tokens of the whole sequence; entry 0 is 0. */
export interface LossRequest {
  lossFn: string
  config: Record<string, number>
  sequences: TrainingSequence[]
}

/**
 * @throws AgogeError `tinker-bad-request` naming the datum and the field.
 */
export function readLossRequest(input: Fields): LossRequest {
  const lossFn = textOf(input, 'loss_fn')
  const settings = optionalFields(input, 'loss_fn_config') ?? {}
  const config = Object.fromEntries(
    Object.keys(settings).map((name) => [name, numberOf(settings, name, undefined)]),
  )
  // Throws for what it does not know.
  engineLoss(lossFn, config)
  const data = listOf(input, 'data')
  if (data.length === 0)
    throw refuse('tinker-bad-request', 'The request has no data', { expected: 'at least one datum' })
  let left = mostTokens
  const sequences = data.map((datum, i) => {
    try {
      const sequence = readDatum(fieldsOf(datum, 'datum'), lossFn, left)
      left -= sequence.tokens.length
      return sequence
    } catch (error) {
      if (!(error instanceof Error)) throw error
      error.message = `Datum ${i}: ${error.message}`
      throw error
    }
  })
  return { lossFn, config, sequences }
}

/** Most tokens of a request. Each takes some 50 bytes. */
const mostTokens = 2 ** 22

function readDatum(datum: Fields, lossFn: string, left: number): TrainingSequence {
  const read = readModelInput(fieldsOf(datum['model_input'], 'model_input'))
  if (read.length >= left)
    throw refuse('tinker-bad-request', 'The request has too many tokens', {
      expected: `at most ${mostTokens}`,
      hint: 'Send fewer sequences at once.',
    })
  const inputs = fieldsOf(datum['loss_fn_inputs'], 'loss_fn_inputs')
  const strange = Object.keys(inputs).find((name) => !known.includes(name))
  if (strange !== undefined)
    throw refuse('tinker-bad-request', `There is no use for ${strange}`, { expected: known.join(', ') })
  const values = (name: string): ArrayLike<number> => readTensor(inputs, name, read.length)
  const targets = values('target_tokens')
  const tokens = new Int32Array(read.length + 1)
  tokens.set(read)
  tokens[read.length] = targets[read.length - 1]
  for (let i = 0; i < read.length; i++) {
    if (targets[i] === tokens[i + 1]) continue
    throw refuse('tinker-bad-request', `target_tokens[${i}] is not the token that follows`, {
      given: targets[i],
      expected: `${tokens[i + 1]}: targets are the model's input, shifted by one`,
    })
  }
  const zeros = new Float32Array(tokens.length)
  const shifted = (name: string): Float32Array => {
    if (!(name in inputs)) return zeros
    const all = new Float32Array(tokens.length)
    all.set(values(name), 1)
    return all
  }
  const advantages = shifted('advantages')
  const imitation = lossFn === 'cross_entropy'
  if (!imitation) for (const name of ['logprobs', 'advantages']) values(name)
  // Without weights every token counts. Tokens with advantage 0 contribute nothing and are not computed.
  const one = (): Float32Array => zeros.map((_, t) => Number(t > 0 && (imitation || advantages[t] !== 0)))
  const weights = 'weights' in inputs ? shifted('weights') : one()
  const extra = shifted('ce_weights')
  // Nothing predicts the first token.
  const temperatures = 'temperatures' in inputs ? shifted('temperatures').fill(1, 0, 1) : undefined
  return {
    tokens,
    logprobs: shifted('logprobs'),
    advantages,
    weights: imitation
      ? { rl: zeros, ce: weights, kl: shifted('kl_weights') }
      : { rl: weights, ce: extra, kl: shifted('kl_weights') },
    ...(temperatures && { temperatures }),
  }
}

/** Token ids of a prompt or of a model input. */
export function readModelInput(input: Fields): Int32Array {
  const tokens = listOf(input, 'chunks').flatMap((each) => {
    const chunk = fieldsOf(each, 'chunk')
    if (chunk['tokens'] !== undefined) return Array.from(numbersOf(chunk, 'tokens'))
    throw refuse('tinker-bad-request', 'This model reads nothing but text', {
      given: chunk['type'] ?? Object.keys(chunk),
      expected: 'chunks of type encoded_text',
    })
  })
  const odd = tokens.findIndex((token) => token !== (token | 0) || token < 0)
  if (odd >= 0) throw refuse('tinker-bad-request', `tokens[${odd}] is no token id`, { given: tokens[odd] })
  if (tokens.length === 0)
    throw refuse('tinker-bad-request', 'There are no tokens to read', { expected: 'at least one token' })
  return Int32Array.from(tokens)
}

function readTensor(inputs: Fields, name: string, length: number): ArrayLike<number> {
  const tensor = Array.isArray(inputs[name]) ? { data: inputs[name] } : fieldsOf(inputs[name], name)
  const shape = tensor['shape']
  if (tensor['sparse_crow_indices'] != null || (Array.isArray(shape) && shape.length > 1)) {
    throw refuse('tinker-bad-request', `${name} has more than one dimension`, {
      given: shape,
      expected: `one value for each of the ${length} tokens`,
    })
  }
  const values = numbersOf(tensor, 'data')
  if (values.length !== length)
    throw refuse('tinker-bad-request', `${name} does not fit the model's input`, {
      given: `${values.length} values`,
      expected: `${length}, one a token`,
    })
  // Protobuf without a shape has an empty one.
  const [size = length] = Array.isArray(shape) ? (shape as unknown[]) : [shape ?? length]
  if (size === length) return values
  throw refuse('tinker-bad-request', `The shape of ${name} does not fit the model's input`, {
    given: shape,
    expected: `[${length}], or none`,
  })
}
