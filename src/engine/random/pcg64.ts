import { AgogeError } from '../../error.ts'
import { createPcg64Words } from './pcg64-words.ts'
import { seedSequence } from './seed-sequence.ts'
import { drawExponential, drawNormal, unitOf } from './ziggurat.ts'

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

/** Everything needed to go on; plain JSON. */
export interface Pcg64State {
  /** Signed 32-bit words, the low one first: four of the state, then four of the increment. */
  words: readonly number[]
  /** The high half of a 64-bit word whose low half was handed out. */
  half: number | null
}

const two32 = 2 ** 32

/**
 * `numpy.random.default_rng(seed)`: PCG XSL-RR 128/64 (O'Neill 2014) seeded by NumPy's `SeedSequence`. For parity with
 * Python results; everything else uses `createRandom`, which is faster. In the tails of `normal` and `exponential` (one
 * draw in 4,000 and in 2,000) a logarithm is taken, whose last bit may differ between platforms.
 *
 * @throws AgogeError `bad-argument` where the seed is negative.
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

  /** NumPy hands out the low half of a 64-bit word first and keeps the high half for the next 32-bit draw. */
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

  /** Lemire (2019), "Fast random integer generation in an interval", as NumPy does it; `range` is below 2^32. */
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
    // Of the exact product, the part above 32 bits: both parts of the range give exact products.
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
      // Four bytes come out of one draw, and what is left of them is dropped at the end of the array.
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
