import type { Pcg64Words } from './pcg64-words.ts'
import { exponentialTables, normalTables } from './ziggurat-tables.ts'

/** Where the normal's tail begins. */
const edge = 3.6541528853610088
const exponentialEdge = 7.69711747013105

/** The last output of `source` as a number in [0, 1), 53 bits. */
export function unitOf(output: Int32Array): number {
  return ((output[1] >>> 0) * 0x200000 + (output[0] >>> 11)) / 0x20000000000000
}

/** Standard normal by the ziggurat of 256 strips (Marsaglia and Tsang 2000), in NumPy's order of draws. */
export function drawNormal(source: Pcg64Words): number {
  const { output } = source
  const { threshold, width, height } = normalTables
  for (;;) {
    source.next()
    // 8 bits choose the strip, the next one the sign, the 52 after them the place in the strip.
    const strip = output[0] & 0xff
    const place = (output[1] & 0x1fffffff) * 0x800000 + (output[0] >>> 9)
    const x = output[0] & 0x100 ? -place * width[strip] : place * width[strip]
    if (place < threshold[strip]) return x
    // The bit of the tail's sign is read before the draws that follow overwrite the output.
    if (strip === 0) return output[0] & 0x20000 ? -normalTail(source) : normalTail(source)
    if (height[strip] + (height[strip - 1] - height[strip]) * nextUnit(source) < Math.exp(-0.5 * x * x))
      return x
  }
}

function normalTail(source: Pcg64Words): number {
  for (;;) {
    const x = -Math.log1p(-nextUnit(source)) / edge
    const y = -Math.log1p(-nextUnit(source))
    if (y + y > x * x) return edge + x
  }
}

/** Exponential of rate 1, likewise. */
export function drawExponential(source: Pcg64Words): number {
  const { output } = source
  const { threshold, width, height } = exponentialTables
  for (;;) {
    source.next()
    // 3 bits are left out, 8 choose the strip, 53 the place in it.
    const strip = (output[0] >>> 3) & 0xff
    const place = (output[1] >>> 0) * 0x200000 + (output[0] >>> 11)
    const x = place * width[strip]
    if (place < threshold[strip]) return x
    if (strip === 0) return exponentialEdge - Math.log1p(-nextUnit(source))
    if (height[strip] + (height[strip - 1] - height[strip]) * nextUnit(source) < Math.exp(-x)) return x
  }
}

function nextUnit(source: Pcg64Words): number {
  source.next()
  return unitOf(source.output)
}
