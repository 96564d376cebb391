import { AgogeError } from '../../error.ts'
import { saltedHash } from './hash.ts'
import type { RandomKey } from './hash.ts'

/** The complete state of a `Random`: four 32-bit words, as plain JSON. */
export type RandomState = readonly [number, number, number, number]

/** A stream of random numbers. Streams with the same keys give the same numbers. */
export interface Random {
  /** Uniform in [0, 1), 53 random bits. */
  next(): number
  /** Uniform integer in [0, n). */
  int(n: number): number
  /** Normal with mean 0 and standard deviation 1 (Box and Muller 1958). */
  normal(): number
  /** One element, uniformly. */
  pick<T>(values: readonly T[]): T
  /** A shuffled copy (Fisher and Yates). */
  shuffle<T>(values: readonly T[]): T[]
  /** An index, with probability proportional to its weight. Weights are finite and not negative. */
  weighted(weights: ArrayLike<number>): number
  /** A child stream, named by the keys of this stream and `keys`. It does not depend on earlier draws. */
  split(...keys: RandomKey[]): Random
  state(): RandomState
  restore(state: RandomState): void
}

/**
 * A stream of random numbers, named by a seed and further keys: Chris Doty-Humphrey's sfc32 (PractRand; period
 * at least 2^32, 2^127 on average), seeded by four hashes of the keys.
 *
 * @example
 * const random = createRandom(1, 'shuffle')
 * random.shuffle(['a', 'b', 'c'])
 */
export function createRandom(seed: RandomKey, ...keys: RandomKey[]): Random {
  const path = [seed, ...keys]
  let a = saltedHash(0x243f6a88, path) | 0
  let b = saltedHash(0x85a308d3, path) | 0
  let c = saltedHash(0x13198a2e, path) | 0
  let counter = saltedHash(0x03707344, path) | 0

  function word(): number {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return sum >>> 0
  }
  for (let i = 0; i < 12; i++) word()

  function next(): number {
    const high = word()
    return (high * 0x200000 + (word() >>> 11)) / 0x20000000000000
  }

  function int(n: number): number {
    if (!Number.isSafeInteger(n) || n < 1) {
      throw new AgogeError('int(n) draws from 0 to n - 1, so n has to be a positive integer.', {
        code: 'bad-argument',
        given: n,
        expected: 'an integer of at least 1',
      })
    }
    return Math.floor(next() * n)
  }

  return {
    next,
    int,
    normal() {
      // 1 - next() lies in (0, 1], so the logarithm is finite.
      return Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
    },
    pick(values) {
      if (values.length === 0) {
        throw new AgogeError('Nothing to pick from.', {
          code: 'bad-argument',
          given: '[]',
          expected: 'at least one value',
        })
      }
      return values[int(values.length)]
    },
    shuffle(values) {
      const copy = values.slice()
      for (let i = copy.length - 1; i > 0; i--) {
        const j = int(i + 1)
        const kept = copy[i]
        copy[i] = copy[j]
        copy[j] = kept
      }
      return copy
    },
    weighted(weights) {
      let total = 0
      let last = -1
      for (let i = 0; i < weights.length; i++) {
        const weight = weights[i]
        if (!(weight >= 0) || weight === Infinity) {
          throw new AgogeError(`Weight ${i} is not a chance.`, {
            code: 'bad-argument',
            given: weight,
            expected: 'a finite number of at least 0',
          })
        }
        if (weight > 0) last = i
        total += weight
      }
      if (last < 0) {
        throw new AgogeError('No weight is above zero, so there is nothing to draw.', {
          code: 'bad-argument',
          given: Array.from(weights),
          expected: 'at least one positive weight',
        })
      }
      let left = next() * total
      for (let i = 0; i < last; i++) {
        left -= weights[i]
        if (left < 0) return i
      }
      return last
    },
    split: (...further) => createRandom(seed, ...keys, ...further),
    state: () => [a, b, c, counter],
    restore(state) {
      ;[a, b, c, counter] = state
    },
  }
}
