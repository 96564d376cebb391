import { AgogeError } from '../../error.ts'
import type { NumberArray } from './space-rows.ts'

/** Arrays that are written in place, by name. */
export type NamedArrays = Readonly<Record<string, NumberArray>>

/** Copies, as structured-cloneable data. */
export const saveArrays = (arrays: NamedArrays): Record<string, ArrayBuffer> =>
  Object.fromEntries(Object.entries(arrays).map(([name, array]) => [name, array.slice().buffer]))

/**
 * Writes saved copies back into the arrays.
 *
 * @throws AgogeError `checkpoint-mismatch` naming the environment and the array, before anything is written
 */
export function restoreArrays(
  environment: string,
  arrays: NamedArrays,
  saved: Readonly<Record<string, ArrayBuffer>>,
): void {
  for (const [name, array] of Object.entries(arrays)) {
    const bytes = (saved[name] as ArrayBuffer | undefined)?.byteLength
    if (bytes === array.byteLength) continue
    throw new AgogeError(`A state that was saved does not fit ${environment}: ${name} has another size`, {
      code: 'checkpoint-mismatch',
      given: `${name}: ${bytes ?? 'no'} bytes`,
      expected: `${array.byteLength} bytes, as saved from the same environment with as many slots`,
    })
  }
  for (const [name, array] of Object.entries(arrays))
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(new Uint8Array(saved[name]))
}
