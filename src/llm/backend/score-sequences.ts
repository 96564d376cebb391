import type { TrainingSequence } from '../episode/types.ts'
import { AgogeError } from '../../error.ts'
import type { ForwardOptions, ModelBackend } from '../model-backend.ts'

/** Log-probabilities of the tokens of training sequences, each at the temperature it was drawn at. */
export function scoreSequences(
  backend: Pick<ModelBackend, 'forward'>,
  sequences: Tempered,
  options: { signal?: AbortSignal } = {},
): Promise<Float32Array[]> {
  return backend.forward(...asked(sequences, options))
}

/**
 * Entropies of the distributions of tokens of training sequences, in nats, each at the temperature it was drawn at.
 *
 * @throws AgogeError `unsupported` where the backend cannot tell.
 */
export async function sequenceEntropies(
  backend: Pick<ModelBackend, 'entropies'>,
  sequences: Tempered,
  options: { signal?: AbortSignal } = {},
): Promise<Float32Array[]> {
  if (backend.entropies !== undefined) return backend.entropies(...asked(sequences, options))
  throw new AgogeError('This backend tells no entropies', {
    code: 'unsupported',
    expected: 'a backend in this process',
    hint: 'Leave out what asks for them, such as entropyShare',
  })
}

type Tempered = readonly Pick<TrainingSequence, 'tokens' | 'temperatures'>[]

function asked(
  sequences: Tempered,
  options: { signal?: AbortSignal },
): [sequences: Int32Array[], options: ForwardOptions] {
  const tempered = sequences.some(({ temperatures }) => temperatures !== undefined)
  return [
    sequences.map(({ tokens }) => tokens),
    { ...options, ...(tempered && { temperatures: sequences.map(({ temperatures }) => temperatures) }) },
  ]
}
