import { createHash } from 'node:crypto'
import type { Parameters } from '../model/parameters.ts'
import { adaptedModules } from './lora.ts'
import type { Adapter } from './lora.ts'

/**
 * SHA-256 of a model's weights as 64 hexadecimal digits: names, shapes and float32 values in the order of the layout.
 * With `adapter`, hashes the base weights. A model and its copy in another file format have the same hash if their
 * values are equal.
 *
 * @param parameters the weights; with `adapter`, the effective weights that include it.
 */
export function hashWeights(parameters: Parameters, adapter?: Adapter): string {
  const { layout, data } = parameters
  const frozen = new Map(
    adapter === undefined
      ? []
      : adaptedModules(adapter, layout).map(({ weight, base }) => [weight.name, base] as const),
  )
  const hash = createHash('sha256')
  for (const { name, shape, offset, size } of layout.entries) {
    const at = frozen.get(name)
    const values =
      at === undefined || adapter === undefined
        ? data.subarray(offset, offset + size)
        : adapter.base.subarray(at, at + size)
    hash.update(`${name}[${shape.join()}]`)
    hash.update(new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
  }
  return hash.digest('hex')
}
