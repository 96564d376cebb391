import type { ClassicAgent } from '../algorithm/agent.ts'
import { AgogeError } from '../../error.ts'

/**
 * Restores an agent that is fresh from a checkpoint.
 *
 * @param where the checkpoint, for the message.
 * @throws AgogeError `checkpoint-mismatch` naming the environment, the step and the first field that does not fit.
 */
export function restoreAgent(
  agent: ClassicAgent,
  saved: { agent: unknown; step?: number },
  where: { path: string; environment: string },
): void {
  const why = explainMisfit(agent.state(), saved.agent, 'agent')
  if (why !== undefined) throw misfit(where, saved.step, why)
  try {
    agent.restore(saved.agent)
  } catch (cause) {
    throw misfit(where, saved.step, String(cause), cause)
  }
}

/** The error for a checkpoint that belongs to something else. */
export function misfit(
  { path, environment }: { path: string; environment: string },
  step: number | undefined,
  given: string,
  cause?: unknown,
): AgogeError {
  const taken = step === undefined ? '' : `, taken after ${step} steps,`
  return new AgogeError(`The checkpoint in ${path}${taken} does not fit ${environment}`, {
    code: 'checkpoint-mismatch',
    given,
    expected: 'a checkpoint of the same environment, algorithm and settings',
    hint: 'Settings that were changed in the program need a new run',
    ...(cause === undefined ? {} : { cause }),
  })
}

/**
 * Where a saved state has other fields than one's own, or arrays of other lengths: copying a short array into a long one
 * would go through, and leave half of the weights as they were. What is empty in one's own may be full in the other.
 */
function explainMisfit(own: unknown, saved: unknown, field: string): string | undefined {
  const length = lengthOf(own)
  if (length !== undefined) {
    const found = lengthOf(saved)
    if (found === undefined) return `${field} is no array`
    return length === 0 || found === length ? undefined : `${field} has ${found} entries, not ${length}`
  }
  if (typeof own !== 'object' || own === null) return undefined
  if (typeof saved !== 'object' || saved === null) return `${field} is ${String(saved)}`
  for (const [name, value] of Object.entries(own)) {
    const why = explainMisfit(value, (saved as Record<string, unknown>)[name], `${field}.${name}`)
    if (why !== undefined) return why
  }
  return undefined
}

/** Of typed arrays and their memory, whose lengths are fixed. */
function lengthOf(value: unknown): number | undefined {
  if (value instanceof ArrayBuffer) return value.byteLength
  return ArrayBuffer.isView(value) ? (value as Uint8Array).length : undefined
}
