import type { TrainingSequence } from '../../episode/types.ts'
import { fieldsOf, listOf, numberOf, numbersOf, optionalFields, textOf } from './fields.ts'
import type { Fields } from './fields.ts'
import { engineLoss } from './losses.ts'
import type { EngineLoss } from './losses.ts'
import { refuse } from './refusal.ts'

/** The inputs of losses that this server knows, those of the protocol first. */
const known = [
  'target_tokens',
  'weights',
  'logprobs',
  'advantages',
  'ce_weights',
  'kl_weights',
  'temperatures',
]

/** `forward_backward_input`, checked. Arrays are over the tokens of the whole sequence; index 0 is 0. */
export interface LossRequest {
  engine: EngineLoss
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
  const engine = engineLoss(lossFn, config)
  const data = listOf(input, 'data')
  if (data.length === 0)
    throw refuse('tinker-bad-request', 'The request has no data', { expected: 'at least one datum' })
  const sequences = data.map((datum, i) => {
    try {
      return readDatum(fieldsOf(datum, 'datum'), lossFn)
    } catch (error) {
      if (!(error instanceof Error)) throw error
      error.message = `Datum ${i}: ${error.message}`
      throw error
    }
  })
  return { engine, sequences }
}

function readDatum(datum: Fields, lossFn: string): TrainingSequence {
  const read = readModelInput(fieldsOf(datum['model_input'], 'model_input'))
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
  // Without weights every token counts; one without advantage has nothing to say and is not computed.
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

/** Token ids of a prompt or of what the model reads. */
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
  if (values.length === length) return values
  throw refuse('tinker-bad-request', `${name} does not fit the model's input`, {
    given: `${values.length} values`,
    expected: `${length}, one a token`,
  })
}
