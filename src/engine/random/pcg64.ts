import { AgogeError } from '../../error.ts'
import { drawExponential, drawNormal, unitOf } from './ziggurat.ts'

const poolSize = 4

function hashStream(start: number, factor: number): (value: number) => number {
  let hash = start
  return (value) => {
    let x = value ^ hash
    hash = Math.imul(hash, factor)
    x = Math.imul(x, hash)
    return (x ^ (x >>> 16)) >>> 0
  }
}

function mixWords(x: number, y: number): number {
  const result = (Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y)) | 0
  return (result ^ (result >>> 16)) >>> 0
}

/**
 * NumPy's `SeedSequence(entropy).generate_state(words, uint64)`, which expands a small seed to the 64-bit words
 * that a generator needs (O'Neill 2015, "Developing a seed_seq alternative"). `entropy` must not be negative.
 */
function seedSequence(entropy: bigint, words: number): bigint[] {
  if (entropy < 0n) {
    throw new AgogeError('A seed is not negative.', {
      code: 'bad-argument',
      given: entropy,
      expected: 'an integer of at least 0',
    })
  }
  const assembled: number[] = []
  for (let rest = entropy; rest > 0n || assembled.length === 0; rest >>= 32n)
    assembled.push(Number(rest & 0xffffffffn))

  const hash = hashStream(0x43b0d7e5, 0x931e8875)
  const pool = Array.from({ length: poolSize }, (_, i) => hash(assembled[i] ?? 0))
  for (let from = 0; from < poolSize; from++) {
    for (let to = 0; to < poolSize; to++) if (from !== to) pool[to] = mixWords(pool[to], hash(pool[from]))
  }
  for (const extra of assembled.slice(poolSize)) {
    for (let to = 0; to < poolSize; to++) pool[to] = mixWords(pool[to], hash(extra))
  }

  const output = hashStream(0x8b51f9dd, 0x58f38ded)
  const halves = Array.from({ length: words * 2 }, (_, i) => BigInt(output(pool[i % poolSize])))
  return Array.from({ length: words }, (_, i) => halves[2 * i] | (halves[2 * i + 1] << 32n))
}

/** PCG XSL-RR 128/64 on 32-bit words. */
export interface Pcg64Words {
  /** [8]: the state in words 0 to 3, least significant first, then the increment. */
  readonly words: Int32Array
  /** [2]: the low and the high 32 bits of the last output. */
  readonly output: Int32Array
  /** Advances the state and writes the next 64 random bits to `output`. */
  readonly next: () => void
}

/** The multiplier 0x2360ed051fc65da44385df649fccf645, least significant word first. */
const m0 = 0x9fccf645 | 0
const m1 = 0x4385df64
const m2 = 0x1fc65da4
const m3 = 0x2360ed05
const two32 = 2 ** 32

/** The high 32 bits of the product of two unsigned words. The second word is given as two halves. */
function mulHigh(a: number, bHigh: number, bLow: number): number {
  const aHigh = a >>> 16
  const aLow = a & 0xffff
  const middle = (Math.imul(aHigh, bLow) + (Math.imul(aLow, bLow) >>> 16)) | 0
  const other = (Math.imul(aLow, bHigh) + (middle & 0xffff)) | 0
  return (Math.imul(aHigh, bHigh) + (middle >>> 16) + (other >>> 16)) | 0
}

/**
 * The generator with state 0 and increment 0. Write `words` before the first draw. Computes the 128-bit product
 * from 32-bit words, which is about twenty times faster than BigInt.
 */
function createPcg64Words(): Pcg64Words {
  const words = new Int32Array(8)
  const output = new Int32Array(2)

  function next(): void {
    const s0 = words[0]
    const s1 = words[1]
    const s2 = words[2]
    // Columns of the schoolbook product, each with the carry of the previous column.
    const column0 = (Math.imul(s0, m0) >>> 0) + (words[4] >>> 0)
    const column1 =
      (Math.imul(s0, m1) >>> 0) +
      (Math.imul(s1, m0) >>> 0) +
      (mulHigh(s0, m0 >>> 16, m0 & 0xffff) >>> 0) +
      (words[5] >>> 0) +
      (column0 >= two32 ? 1 : 0)
    const column2 =
      (Math.imul(s0, m2) >>> 0) +
      (Math.imul(s1, m1) >>> 0) +
      (Math.imul(s2, m0) >>> 0) +
      (mulHigh(s0, m1 >>> 16, m1 & 0xffff) >>> 0) +
      (mulHigh(s1, m0 >>> 16, m0 & 0xffff) >>> 0) +
      (words[6] >>> 0) +
      ((column1 / two32) | 0)
    const t3 =
      (Math.imul(s0, m3) +
        Math.imul(s1, m2) +
        Math.imul(s2, m1) +
        Math.imul(words[3], m0) +
        mulHigh(s0, m2 >>> 16, m2 & 0xffff) +
        mulHigh(s1, m1 >>> 16, m1 & 0xffff) +
        mulHigh(s2, m0 >>> 16, m0 & 0xffff) +
        words[7] +
        ((column2 / two32) | 0)) |
      0
    const t0 = column0 | 0
    const t1 = column1 | 0
    const t2 = column2 | 0
    words[0] = t0
    words[1] = t1
    words[2] = t2
    words[3] = t3

    // XORs both halves of the new state and rotates right by its top six bits.
    const swap = t3 < 0
    const low = swap ? t1 ^ t3 : t0 ^ t2
    const high = swap ? t0 ^ t2 : t1 ^ t3
    const by = (t3 >>> 26) & 31
    // Shifts by 1, then by 31 - by. For `by` 0 this is 32 in all, which a single shift cannot do.
    output[0] = (low >>> by) | ((high << 1) << (31 - by))
    output[1] = (high >>> by) | ((low << 1) << (31 - by))
  }

  return { words, output, next }
}

/** NumPy's default generator, bit for bit. */
export interface Pcg64 {
  /** As `Generator.random()`: uniform in [0, 1), 53 random bits. */
  random(): number
  /** As `Generator.integers(low, high)` of int64: uniform in [low, high). */
  integers(low: number, high: number): number
  /** As `Generator.integers(n, size=length, dtype=int8)`: fills `out` with 0 to n - 1, n at most 128. */
  fillIntegers8(n: number, out: { [index: number]: number; readonly length: number }): void
  /** As `Generator.standard_normal()`. */
  normal(): number
  /** As `Generator.standard_exponential()`. */
  exponential(): number
  /** The next 64 random bits. */
  next64(): bigint
  state(): Pcg64State
  restore(state: Pcg64State): void
}

/** The complete state, as plain JSON. */
export interface Pcg64State {
  /** Signed 32-bit words, least significant first: four of the state, then four of the increment. */
  words: readonly number[]
  /** The high 32 bits of a 64-bit word whose low 32 bits have been used. */
  half: number | null
}

/**
 * The generator of `numpy.random.default_rng(seed)`: PCG XSL-RR 128/64 (O'Neill 2014), seeded by NumPy's
 * `SeedSequence`. Use it for parity with Python; `createRandom` is faster. In the tails of `normal` and
 * `exponential` (one draw in 4,000 and in 2,000) it computes a logarithm, whose last bit may differ between
 * platforms.
 *
 * @throws AgogeError `bad-argument` for a negative seed
 */
export function createPcg64(seed: number | bigint): Pcg64 {
  const source = createPcg64Words()
  const { words, output, next } = source
  let half: number | null = null

  const [stateHigh, stateLow, sequenceHigh, sequenceLow] = seedSequence(BigInt(seed), 4)
  const increment = BigInt.asUintN(128, (((sequenceHigh << 64n) | sequenceLow) << 1n) | 1n)
  writeWords(words, 0, BigInt.asUintN(128, increment + ((stateHigh << 64n) | stateLow)))
  writeWords(words, 4, increment)
  next()

  function next64(): bigint {
    next()
    return (BigInt(output[1] >>> 0) << 32n) | BigInt(output[0] >>> 0)
  }

  /** NumPy uses the low 32 bits of a 64-bit word first and keeps the high 32 bits for the next 32-bit draw. */
  function next32(): number {
    if (half !== null) {
      const kept = half
      half = null
      return kept
    }
    next()
    half = output[1] >>> 0
    return output[0] >>> 0
  }

  /** Lemire (2019), "Fast random integer generation in an interval", as in NumPy. `range` is below 2^32. */
  function bounded32(range: number): number {
    let word = next32()
    let leftover = Math.imul(word, range) >>> 0
    if (leftover < range) {
      const threshold = (two32 - range) % range
      while (leftover < threshold) {
        word = next32()
        leftover = Math.imul(word, range) >>> 0
      }
    }
    // The part of the exact product above 32 bits. Both halves of the range give exact products.
    const upper = word * (range >>> 16)
    const lower = word * (range & 0xffff)
    return Math.floor((upper + Math.floor(lower / 65536)) / 65536)
  }

  function bounded64(range: bigint): bigint {
    let product = next64() * range
    let leftover = BigInt.asUintN(64, product)
    if (leftover < range) {
      const threshold = ((1n << 64n) - range) % range
      while (leftover < threshold) {
        product = next64() * range
        leftover = BigInt.asUintN(64, product)
      }
    }
    return product >> 64n
  }

  return {
    next64,
    random() {
      next()
      return unitOf(output)
    },
    normal: () => drawNormal(source),
    exponential: () => drawExponential(source),
    integers(low, high) {
      if (!Number.isSafeInteger(low) || !Number.isSafeInteger(high) || high <= low) {
        throw new AgogeError('integers(low, high) draws from low to high - 1.', {
          code: 'bad-argument',
          given: [low, high],
          expected: 'two integers with low < high',
        })
      }
      const range = high - low
      if (range === 1) return low
      if (range < two32) return low + bounded32(range)
      if (range === two32) return low + next32()
      return Number(BigInt(low) + bounded64(BigInt(high) - BigInt(low)))
    },
    fillIntegers8(n, out) {
      if (!Number.isSafeInteger(n) || n < 1 || n > 128) {
        throw new AgogeError('fillIntegers8(n, out) draws from 0 to n - 1.', {
          code: 'bad-argument',
          given: n,
          expected: 'an integer from 1 to 128',
        })
      }
      // One draw gives four bytes. At the end of the array the rest is dropped.
      const threshold = (256 - n) % n
      let word = 0
      let left = 0
      for (let i = 0; i < out.length; i++) {
        let product = 0
        do {
          if (n === 1) break
          word = left === 0 ? next32() : word >>> 8
          left = left === 0 ? 3 : left - 1
          product = (word & 0xff) * n
        } while ((product & 0xff) < threshold)
        out[i] = product >> 8
      }
    },
    state: () => ({ words: [...words], half }),
    restore(state) {
      words.set(state.words)
      half = state.half
    },
  }
}

function writeWords(words: Int32Array, from: number, value: bigint): void {
  for (let k = 0; k < 4; k++) words[from + k] = Number(BigInt.asIntN(32, value >> BigInt(32 * k)))
}
