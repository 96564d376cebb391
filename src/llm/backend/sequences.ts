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
