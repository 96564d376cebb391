import { AgogeError } from '../../error.ts'

/** A part of the name of a random stream. Numbers and strings never collide: `1` and `'1'` name two streams. */
export type RandomKey = number | string

function rotateLeft(x: number, by: number): number {
  return (x << by) | (x >>> (32 - by))
}

/** One round of MurmurHash3 (Appleby 2011, public domain) over a 32-bit word. */
function absorb(hash: number, word: number): number {
  const scrambled = Math.imul(rotateLeft(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593)
  return (Math.imul(rotateLeft(hash ^ scrambled, 13), 5) + 0xe6546b64) | 0
}

/** MurmurHash3's finaliser: each input bit changes each output bit with probability close to one half. */
function mix32(x: number): number {
  let h = x | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

const float = new Float64Array(1)
const words = new Int32Array(float.buffer)

function absorbKey(hash: number, key: RandomKey): number {
  if (typeof key === 'number') {
    // Adding 0 turns -0 into 0, so both are the same key.
    float[0] = key + 0
    return absorb(absorb(absorb(hash, 1), words[0]), words[1])
  }
  let h = absorb(absorb(hash, 2), key.length)
  for (let i = 0; i < key.length; i += 2) {
    h = absorb(h, key.charCodeAt(i) | (i + 1 < key.length ? key.charCodeAt(i + 1) << 16 : 0))
  }
  return h
}

/**
 * A well-mixed 32-bit hash of a list of keys, as an integer in [0, 2^32). Depends on the order and the types of
 * the keys. Not cryptographic.
 */
export function hash32(...keys: RandomKey[]): number {
  return saltedHash(0, keys)
}

/** `hash32` with one of 2^32 independent salts. */
function saltedHash(salt: number, keys: readonly RandomKey[]): number {
  let h = salt | 0
  for (const key of keys) h = absorbKey(h, key)
  return mix32(h ^ keys.length)
}

/**
 * Random number `counter` of the stream `(seed, key)`, uniform in [0, 1) with 53 random bits. Stateless: the
 * result depends only on the arguments, so sampling does not depend on batching or order.
 */
export function uniformAt(seed: number, key: RandomKey, counter: number): number {
  let h = absorbKey(absorbKey(0x5bd1e995, seed), key)
  h = absorbKey(h, counter)
  const high = mix32(h)
  const low = mix32(Math.imul(h, 0x9e3779b1) ^ 0x7f4a7c15)
  return (high * 0x200000 + (low >>> 11)) / 0x20000000000000
}

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
