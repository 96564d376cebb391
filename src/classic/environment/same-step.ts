import { AgogeError } from '../../error.ts'
import type { VectorEnvironment } from './vector.ts'

/**
 * For whoever takes each row of a step for a transition, and the last observation of an episode from `finalObservations`.
 *
 * @param who needs it, for the message.
 * @throws AgogeError `bad-argument` for an environment that does not reset in the step that ends an episode.
 */
export function requireSameStep(
  { definition, autoreset }: Pick<VectorEnvironment, 'definition' | 'autoreset'>,
  who: string,
): void {
  if (autoreset === 'same-step') return
  throw new AgogeError(`${who} needs episodes of ${definition.name} that begin in the step that ends one`, {
    code: 'bad-argument',
    given: autoreset,
    expected: "autoreset: 'same-step'",
    hint: 'Make the vector environment without the option autoreset',
  })
}
