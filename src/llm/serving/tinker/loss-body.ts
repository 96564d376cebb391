import { AgogeError, type ErrorData } from '../../../error.ts'
import { parseForeignJson } from '../../../untrusted/foreign-json.ts'
import { checked, noSecrets, received, redacted } from '../../../untrusted/untrusted.ts'
import { packSequences, type PackedSequences } from '../../backend/packed-sequences.ts'
import { type Fields, fieldsOf, refusalData, refuse } from './fields.ts'
import { type LossRequest, readLossRequest } from './losses.ts'

/** The body of a request to compute a loss, as it came. */
export interface LossBody {
  /** The bytes in parts, which are joined where nobody waits for other answers. */
  parts: readonly Uint8Array<ArrayBuffer>[]
  protobuf: boolean
  /** The field of the input. */
  field: 'forward_input' | 'forward_backward_input'
}

/** The same as plain data. */
export interface ReadLossBody {
  /** The fields besides the input. */
  body: Fields
  /** True in protobuf if no gradient is wanted. */
  forwardOnly: boolean
  /** The input with its sequences in two arrays, or why it cannot be used. */
  loss: (Omit<LossRequest, 'sequences'> & { sequences: PackedSequences }) | { refused: ErrorData }
}

/** Longest JSON of a field besides the input. */
const mostBeside = 100_000

/**
 * Reads and checks the body of a request to compute a loss.
 *
 * @throws AgogeError `tinker-bad-request` for what is no object of JSON, or no message of protobuf
 */
export async function readLossBody({ parts, protobuf, field }: LossBody): Promise<ReadLossBody> {
  const whole = received<Uint8Array>(Buffer.concat(parts))
  const { body, forwardOnly } = protobuf
    ? // Protobuf is loaded for the first client that uses it.
      redacted(checked(whole, (await import('./protobuf/messages.ts')).readForwardBackwardRequest), noSecrets)
    : { body: redacted(checked(whole, readJson), noSecrets), forwardOnly: false }
  const { [field]: input, ...others } = body
  for (const [name, value] of Object.entries(others))
    if (JSON.stringify(value ?? null).length > mostBeside)
      throw refuse('tinker-bad-request', `The field ${name} is too long`, {
        expected: `at most ${mostBeside} characters`,
      })
  return { body: others, forwardOnly, loss: readLoss(input, field) }
}

function readLoss(input: unknown, field: string): ReadLossBody['loss'] {
  try {
    const request = readLossRequest(fieldsOf(input, field))
    return { ...request, sequences: packSequences(request.sequences) }
  } catch (error) {
    if (!AgogeError.isInstance(error)) throw error
    return { refused: refusalData(error) }
  }
}

function readJson(bytes: Uint8Array): Fields {
  let json: unknown
  try {
    json = parseForeignJson(new TextDecoder().decode(bytes))
  } catch {
    throw refuse('tinker-bad-request', 'The body is not JSON', { expected: 'JSON' })
  }
  return fieldsOf(json, 'body')
}
