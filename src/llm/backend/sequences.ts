import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import type { TrainingSequence } from '../episode/types.ts'
import type { ForwardOptions, LossName, LossSettings } from '../model-backend.ts'
import type { TransformerConfig } from '../model/config.ts'

/** Throws for a sequence that the model cannot read. */
export function checkSequences(sequences: readonly Int32Array[], config: TransformerConfig): void {
  for (const [i, tokens] of sequences.entries()) {
    if (tokens.length > config.max_position_embeddings) {
      throw new AgogeError(`sequence ${i} is longer than the model's window`, {
        code: 'sequence-too-long',
        given: tokens.length,
        expected: `at most ${config.max_position_embeddings} tokens`,
      })
    }
    const wrong = tokens.find((id) => id < 0 || id >= config.vocab_size)
    if (wrong === undefined) continue
    throw new AgogeError(`sequence ${i} has a token outside the vocabulary`, {
      code: 'bad-token',
      given: wrong,
      expected: `ids from 0 to ${config.vocab_size - 1}`,
      hint: 'encode with the tokenizer that was saved beside the weights',
    })
  }
}

/** Throws for temperatures that do not match the sequences or are invalid. */
export function checkTemperatures(
  sequences: readonly Int32Array[],
  temperatures: ForwardOptions['temperatures'],
): void {
  if (temperatures === undefined) return
  if (temperatures.length !== sequences.length)
    throw new AgogeError('temperatures do not match the sequences', {
      code: 'shape-mismatch',
      given: temperatures.length,
      expected: `${sequences.length}: one array a sequence, or undefined for temperature 1`,
    })
  for (const [i, values] of temperatures.entries()) {
    if (values === undefined) continue
    if (values.length !== sequences[i].length)
      throw new AgogeError(`temperatures of sequence ${i} do not match its tokens`, {
        code: 'shape-mismatch',
        given: values.length,
        expected: `${sequences[i].length} values, one a token`,
      })
    const wrong = values.find((value) => !(value > 0 && value < Infinity))
    if (wrong !== undefined)
      throw new AgogeError(`sequence ${i} has an invalid temperature`, {
        code: 'bad-temperature',
        given: wrong,
        expected: 'numbers above 0; 1 for tokens that were drawn greedily or not at all',
      })
  }
}

const losses: readonly LossName[] = ['cross_entropy', 'importance_sampling', 'ppo', 'cispo']

function checkLoss({ name, clipLow = 0, clipHigh = 0, entropyCoefficient = 0 }: LossSettings): void {
  const refuse = (what: string, given: unknown, expected: string, hint?: string): never => {
    throw new AgogeError(`the loss cannot be computed: ${what}`, {
      code: 'bad-loss-settings',
      given,
      expected,
      ...defined({ hint }),
    })
  }
  if (!losses.includes(name))
    refuse('its name', name, losses.join(', '), 'any other loss is a function: forwardBackward takes one')
  for (const [setting, value] of Object.entries({ clipLow, clipHigh }))
    if (!(value >= 0)) refuse(setting, value, 'a number of 0 or more')
  if (!Number.isFinite(entropyCoefficient))
    refuse('entropyCoefficient', entropyCoefficient, 'a finite number')
}

/** Throws for unknown loss settings, training sequences with mismatched arrays, or weights that the loss does not use. */
export function checkTraining(sequences: readonly TrainingSequence[], loss: LossSettings): void {
  checkLoss(loss)
  const { name, entropyCoefficient = 0 } = loss
  checkTemperatures(
    sequences.map(({ tokens }) => tokens),
    sequences.map(({ temperatures }) => temperatures),
  )
  for (const [i, { tokens, logprobs, advantages, weights }] of sequences.entries()) {
    const checkLength = (field: string, { length }: Float32Array): void => {
      if (length === tokens.length) return
      throw new AgogeError(`training sequence ${i}: ${field} does not match its tokens`, {
        code: 'shape-mismatch',
        given: length,
        expected: `${tokens.length} values, one a token`,
      })
    }
    checkLength('logprobs', logprobs)
    checkLength('advantages', advantages)
    checkLength('rl', weights.rl)
    checkLength('ce', weights.ce)
    checkLength('kl', weights.kl)
    if (name === 'cross_entropy' && entropyCoefficient === 0 && weights.rl.some((weight) => weight !== 0)) {
      throw new AgogeError(`training sequence ${i} has rl weights, which cross_entropy would ignore`, {
        code: 'unused-weights',
        given: name,
        expected: 'ppo, cispo or importance_sampling for rl weights, or ce weights for cross_entropy',
      })
    }
  }
}

/** Rows of a forward pass, concatenated, so that a thread receives two arrays instead of two per row. */
export interface PackedRows {
  lengths: number[]
  tokens: Int32Array
  /** Absent if all are 1. */
  temperatures?: Float32Array
}

export interface Row {
  tokens: Int32Array
  /** Default: 1. */
  temperatures?: Float32Array | undefined
}

export function packRows(rows: readonly Row[]): PackedRows {
  const lengths = rows.map(({ tokens }) => tokens.length)
  const total = lengths.reduce((sum, length) => sum + length, 0)
  const tokens = new Int32Array(total)
  const hot = rows.some(({ temperatures }) => temperatures !== undefined)
  const temperatures = hot ? new Float32Array(total).fill(1) : undefined
  let at = 0
  for (const row of rows) {
    tokens.set(row.tokens, at)
    if (row.temperatures !== undefined) temperatures!.set(row.temperatures, at)
    at += row.tokens.length
  }
  return { lengths, tokens, ...defined({ temperatures }) }
}

/** Restores the rows, as views. */
export function unpackRows({ lengths, tokens, temperatures }: PackedRows): Row[] {
  const ofTokens = splitValues(tokens, lengths)
  const ofTemperatures = temperatures === undefined ? undefined : splitValues(temperatures, lengths)
  return ofTokens.map((row, i) => ({ tokens: row, temperatures: ofTemperatures?.[i] }))
}

/** The arrays of these lengths that `values` consists of, as views. */
export function splitValues<T extends Int32Array | Float32Array>(values: T, lengths: readonly number[]): T[] {
  let end = 0
  return lengths.map((length) => {
    const at = end
    end += length
    return values.subarray(at, end) as T
  })
}

/** The inverse of `splitValues`. */
export function joinValues(parts: readonly Float32Array[]): Float32Array {
  const values = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    values.set(part, at)
    at += part.length
  }
  return values
}

/** Training sequences concatenated, so that a thread receives two arrays instead of six per sequence. */
export interface PackedSequences {
  lengths: number[]
  tokens: Int32Array
  /** For each sequence its logprobs, advantages, weights rl, ce and kl, and temperatures. */
  numbers: Float32Array
}

const parts = 6

const perToken = ({
  tokens,
  logprobs,
  advantages,
  weights,
  temperatures = new Float32Array(tokens.length).fill(1),
}: TrainingSequence): Float32Array[] => [
  logprobs,
  advantages,
  weights.rl,
  weights.ce,
  weights.kl,
  temperatures,
]

export function packSequences(sequences: readonly TrainingSequence[]): PackedSequences {
  const lengths = sequences.map(({ tokens }) => tokens.length)
  const total = lengths.reduce((sum, length) => sum + length, 0)
  const tokens = new Int32Array(total)
  const numbers = new Float32Array(parts * total)
  let at = 0
  for (const [i, sequence] of sequences.entries()) {
    tokens.set(sequence.tokens, at)
    perToken(sequence).forEach((array, part) => numbers.set(array, parts * at + part * lengths[i]))
    at += lengths[i]
  }
  return { lengths, tokens, numbers }
}

/** Restores the sequences, as views. */
export function unpackSequences({ lengths, tokens, numbers }: PackedSequences): TrainingSequence[] {
  let end = 0
  return lengths.map((length) => {
    const at = end
    end += length
    const part = (index: number): Float32Array =>
      numbers.subarray(parts * at + index * length, parts * at + (index + 1) * length)
    return {
      tokens: tokens.subarray(at, end),
      logprobs: part(0),
      advantages: part(1),
      weights: { rl: part(2), ce: part(3), kl: part(4) },
      temperatures: part(5),
    }
  })
}
