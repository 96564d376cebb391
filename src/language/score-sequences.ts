import type { TrainingSequence } from '../episode/types.ts'
import type { ModelBackend } from './backend.ts'

/** Log-probabilities of the tokens of training sequences, each at the temperature it was drawn at. */
export function scoreSequences(
  backend: Pick<ModelBackend, 'forward'>,
  sequences: readonly Pick<TrainingSequence, 'tokens' | 'temperatures'>[],
  options: { signal?: AbortSignal } = {},
): Promise<Float32Array[]> {
  const tempered = sequences.some(({ temperatures }) => temperatures !== undefined)
  return backend.forward(
    sequences.map(({ tokens }) => tokens),
    { ...options, ...(tempered && { temperatures: sequences.map(({ temperatures }) => temperatures) }) },
  )
}
