const float = new Float32Array(1)
const bits = new Uint32Array(float.buffer)

/** The bits of the bfloat16 nearest to a number; ties go to the even one. */
export function toBfloat16(value: number): number {
  float[0] = value
  if (Number.isNaN(value)) return (bits[0] >>> 16) | 0x40
  return ((bits[0] + 0x7fff + ((bits[0] >>> 16) & 1)) >>> 16) & 0xffff
}

export function fromBfloat16(half: number): number {
  bits[0] = half << 16
  return float[0]
}

/** The bits of the IEEE half-precision number nearest to a number; ties go to the even one, beyond 65504 to infinity. */
export function toFloat16(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
  if (Number.isNaN(value)) return 0x7e00
  const size = Math.abs(value)
  if (size >= 65520) return sign | 0x7c00
  // Below 2^-14 the steps are 2^-24 wide (subnormal); above, 2^-10 of the power of two below the number.
  const exponent = size < 2 ** -14 ? -14 : Math.floor(Math.log2(size))
  const steps = roundToEven(size / 2 ** (exponent - 10))
  // A carry out of the mantissa lands in the exponent by itself, and so does the missing leading one of a subnormal.
  return sign | (steps + (exponent + 14) * 1024)
}

export function fromFloat16(half: number): number {
  const sign = half & 0x8000 ? -1 : 1
  const exponent = (half >> 10) & 0x1f
  const mantissa = half & 0x3ff
  if (exponent === 31) return mantissa === 0 ? sign * Infinity : NaN
  return exponent === 0 ? sign * mantissa * 2 ** -24 : sign * (1024 + mantissa) * 2 ** (exponent - 25)
}

let float16Table: Float32Array | undefined

/** The numbers of stored halves, into `target`. */
export function decodeFloat16(halves: Uint16Array, type: 'F16' | 'BF16', target: Float32Array): void {
  if (type === 'BF16') {
    const words = new Uint32Array(target.buffer, target.byteOffset, target.length)
    for (let i = 0; i < words.length; i++) words[i] = halves[i] << 16
    return
  }
  const table = (float16Table ??= Float32Array.from({ length: 2 ** 16 }, (_, half) => fromFloat16(half)))
  for (let i = 0; i < target.length; i++) target[i] = table[halves[i]]
}

function roundToEven(x: number): number {
  const floor = Math.floor(x)
  const rest = x - floor
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor
}
