import type { Random } from '../../src/engine/random/index.ts'

/** Bytes, mutated by flipping, cutting, doubling and splicing. */
export function makeBytes(random: Random, examples: readonly Uint8Array[]): Uint8Array {
  let bytes = Uint8Array.from(random.pick(examples))
  if (random.next() < 0.05) return bytes
  for (let count = 1 + random.int(4); count > 0; count--) bytes = mutateBytes(random, bytes, examples)
  return bytes
}

/** Mutates bytes once. */
export function mutateBytes(
  random: Random,
  bytes: Uint8Array<ArrayBuffer>,
  examples: readonly Uint8Array[],
): Uint8Array<ArrayBuffer> {
  const at = random.int(bytes.length + 1)
  const length = random.int(Math.min(16, bytes.length - at) + 1)
  const [before, piece, after] = [
    bytes.subarray(0, at),
    bytes.subarray(at, at + length),
    bytes.subarray(at + length),
  ]
  switch (random.int(9)) {
    case 0:
    case 1: {
      if (at < bytes.length) bytes[at] ^= 1 << random.int(8)
      return bytes
    }
    case 2:
      return joined(before)
    case 3:
      return joined(before, after)
    case 4:
      return joined(before, piece, piece, after)
    case 5: {
      const other = random.pick(examples)
      const from = random.int(other.length + 1)
      return joined(before, other.subarray(from, from + random.int(32)), after)
    }
    case 6: {
      const edges = [0, 1, 0x7f, 0x80, 0xff]
      return joined(
        before,
        Uint8Array.from({ length: 1 + random.int(9) }, () => random.pick(edges)),
        after,
      )
    }
    case 7: {
      if (at < bytes.length) bytes[at] = random.int(256)
      return bytes
    }
    default:
      return joined(after, before)
  }
}

/** Parts, one after the other, in bytes of their own. */
export function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
