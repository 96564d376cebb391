import { AgogeError } from '../../error.ts'

/**
 * An error about numbers, thrown by who knew neither environment nor step, with both; other errors as they are.
 *
 * @param step of the environment that was last begun.
 */
export function reportStep(error: unknown, environment: string, step: number): unknown {
  if (!AgogeError.isInstance(error) || error.code !== 'not-finite') return error
  const given = typeof error.given === 'object' && error.given !== null ? error.given : { value: error.given }
  if ('step' in given) return error
  const { message, code, expected, hint } = error
  return new AgogeError(`${environment}, step ${step}: ${message}`, {
    code,
    given: { environment, step, ...given },
    ...(expected === undefined ? {} : { expected }),
    ...(hint === undefined ? {} : { hint }),
    cause: error,
  })
}
