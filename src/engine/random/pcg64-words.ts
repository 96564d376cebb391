/** PCG XSL-RR 128/64 on 32-bit words. */
export interface Pcg64Words {
  /** [8]: the state in words 0 to 3, the low one first, then the increment. */
  readonly words: Int32Array
  /** [2]: the low and the high half of the last output. */
  readonly output: Int32Array
  /** Steps the state and writes the next 64 random bits to `output`. */
  readonly next: () => void
}

/** The multiplier 0x2360ed051fc65da44385df649fccf645, the low word first. */
const m0 = 0x9fccf645 | 0
const m1 = 0x4385df64
const m2 = 0x1fc65da4
const m3 = 0x2360ed05
const two32 = 2 ** 32

/** The high half of the 64-bit product of two unsigned words, the second given in halves. */
function mulHigh(a: number, bHigh: number, bLow: number): number {
  const aHigh = a >>> 16
  const aLow = a & 0xffff
  const middle = (Math.imul(aHigh, bLow) + (Math.imul(aLow, bLow) >>> 16)) | 0
  const other = (Math.imul(aLow, bHigh) + (middle & 0xffff)) | 0
  return (Math.imul(aHigh, bHigh) + (middle >>> 16) + (other >>> 16)) | 0
}

/**
 * The generator with state 0 and increment 0; write its words, then draw. The 128-bit product is put together from
 * 32-bit ones, which is some twenty times faster than BigInt.
 */
export function createPcg64Words(): Pcg64Words {
  const words = new Int32Array(8)
  const output = new Int32Array(2)

  function next(): void {
    const s0 = words[0]
    const s1 = words[1]
    const s2 = words[2]
    // Columns of the schoolbook product, each with the carry of the column before.
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

    // The halves of the new state folded together, rotated right by its top six bits.
    const swap = t3 < 0
    const low = swap ? t1 ^ t3 : t0 ^ t2
    const high = swap ? t0 ^ t2 : t1 ^ t3
    const by = (t3 >>> 26) & 31
    // Shifted by 1, then by 31 - by: 32 in all where `by` is 0, which one shift cannot do.
    output[0] = (low >>> by) | ((high << 1) << (31 - by))
    output[1] = (high >>> by) | ((low << 1) << (31 - by))
  }

  return { words, output, next }
}
