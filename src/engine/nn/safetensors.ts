import { AgogeError } from '../../error.ts'
import { parseForeignJson } from '../../untrusted/foreign-json.ts'

const float = new Float32Array(1)
const bits = new Uint32Array(float.buffer)

/** The bits of the bfloat16 nearest to a number. Ties go to even. */
export function toBfloat16(value: number): number {
  float[0] = value
  if (Number.isNaN(value)) return (bits[0] >>> 16) | 0x40
  return ((bits[0] + 0x7fff + ((bits[0] >>> 16) & 1)) >>> 16) & 0xffff
}

export function fromBfloat16(half: number): number {
  bits[0] = half << 16
  return float[0]
}

/** The bits of the IEEE float16 nearest to a number. Ties go to even; beyond 65504 the result is infinity. */
export function toFloat16(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
  if (Number.isNaN(value)) return 0x7e00
  const size = Math.abs(value)
  if (size >= 65520) return sign | 0x7c00
  // Below 2^-14, steps are 2^-24 wide (subnormal). Above, they are 2^-10 times the power of two below the
  // number.
  const exponent = size < 2 ** -14 ? -14 : Math.floor(Math.log2(size))
  const steps = roundToEven(size / 2 ** (exponent - 10))
  // A carry out of the mantissa correctly increments the exponent, also for subnormals.
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

/** Decodes stored float16 numbers into `target`. */
function decodeFloat16(halves: Uint16Array, type: 'F16' | 'BF16', target: Float32Array): void {
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

/** An array of a checkpoint, row-major. */
export interface StoredTensor {
  data: Float32Array
  shape: readonly number[]
}

/** The number format of an array in a file: 32-bit float, 16-bit float or bfloat16. */
export type StoredType = 'F32' | 'F16' | 'BF16'

/** The contents of a safetensors file: arrays by name, and the metadata of its header. */
export interface SafetensorsFile {
  tensors: Record<string, StoredTensor>
  metadata: Record<string, string>
}

const bytesOf: Record<StoredType, number> = { F32: 4, F16: 2, BF16: 2 }
// The reference implementation refuses larger headers too.
const largestHeader = 100_000_000

/**
 * Arrays as a safetensors file (https://github.com/huggingface/safetensors). The order is that of the record.
 *
 * @param options `metadata` of the header, and `type`, the stored type of all arrays. Default: F32. The other types round
 * to nearest.
 * @returns the bytes of the file
 */
export function writeSafetensors(
  tensors: Readonly<Record<string, StoredTensor>>,
  options: { metadata?: Readonly<Record<string, string>>; type?: StoredType } = {},
): Uint8Array {
  const { metadata, type = 'F32' } = options
  const header: Record<string, unknown> = metadata === undefined ? {} : { __metadata__: metadata }
  let end = 0
  for (const [name, { data, shape }] of Object.entries(tensors)) {
    if (sizeOf(shape) !== data.length) {
      throw new AgogeError(`The tensor ${name} does not have the length of its shape.`, {
        code: 'shape-mismatch',
        given: { shape, length: data.length },
        expected: `${sizeOf(shape)} numbers`,
      })
    }
    const start = end
    end += data.length * bytesOf[type]
    header[name] = { dtype: type, shape, data_offsets: [start, end] }
  }
  const json = new TextEncoder().encode(JSON.stringify(header))
  // Padded with spaces, so that the data begin at a multiple of eight bytes.
  const headerLength = Math.ceil(json.length / 8) * 8
  const file = new Uint8Array(8 + headerLength + end).fill(0x20, 8, 8 + headerLength)
  new DataView(file.buffer).setBigUint64(0, BigInt(headerLength), true)
  file.set(json, 8)
  let offset = 8 + headerLength
  for (const { data } of Object.values(tensors)) {
    if (type === 'F32') new Float32Array(file.buffer, offset, data.length).set(data)
    else
      new Uint16Array(file.buffer, offset, data.length).set(data.map(type === 'F16' ? toFloat16 : toBfloat16))
    offset += data.length * bytesOf[type]
  }
  return file
}

/** The position of an array in the file, in bytes from its beginning. */
export interface TensorPlace {
  type: StoredType
  shape: readonly number[]
  from: number
  to: number
}

/** The header of a safetensors file: the place of each array by name, and the metadata. */
export interface SafetensorsHeader {
  tensors: Record<string, TensorPlace>
  metadata: Record<string, string>
}

/**
 * Reads a safetensors file of F32, F16 or BF16 arrays. Returns all of them as Float32Array.
 *
 * @throws AgogeError `bad-checkpoint`, naming the file and the tensor, if the header is invalid, arrays overlap
 * or leave gaps, or the file is truncated
 */
export function readSafetensors(bytes: Uint8Array, file = 'the safetensors file'): SafetensorsFile {
  const { tensors, metadata } = readSafetensorsHeader(bytes, bytes.length, file)
  const decoded = Object.entries(tensors).map(([name, { type, shape, from, to }]) => {
    const data = new Float32Array(sizeOf(shape))
    decodeTensor(bytes.subarray(from, to), type, data)
    return [name, { shape, data }]
  })
  return { tensors: Object.fromEntries(decoded), metadata }
}

/** The number of bytes of the length field and the header, from the first eight bytes of a file. */
export function safetensorsHeaderBytes(first: Uint8Array): number {
  if (first.length < 8) return 8
  return 8 + Number(new DataView(first.buffer, first.byteOffset).getBigUint64(0, true))
}

/** Decodes stored bytes into `target`, which has the length of the array. */
export function decodeTensor(bytes: Uint8Array, type: StoredType, target: Float32Array): void {
  // Copied for alignment. The `slice` of a Buffer would share its memory.
  if (type !== 'F32') decodeFloat16(new Uint16Array(new Uint8Array(bytes).buffer), type, target)
  else new Uint8Array(target.buffer, target.byteOffset, target.byteLength).set(bytes)
}

/**
 * Reads the header of a file of `fileBytes` bytes. `bytes` must contain at least the header.
 *
 * @throws AgogeError `bad-checkpoint` as `readSafetensors` does, and for arrays of other types
 */
export function readSafetensorsHeader(
  bytes: Uint8Array,
  fileBytes: number,
  file = 'the safetensors file',
): SafetensorsHeader {
  function check(fits: boolean, what: string, given: unknown, expected: string): asserts fits {
    if (!fits) {
      throw new AgogeError(`${file}: ${what}.`, {
        code: 'bad-checkpoint',
        given,
        expected,
        hint: 'The file is damaged or not a safetensors file; download or save it again.',
      })
    }
  }
  check(bytes.length >= 8, 'too short to be a safetensors file', `${bytes.length} bytes`, 'at least 8 bytes')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const headerLength = Number(view.getBigUint64(0, true))
  const start = 8 + headerLength
  const fits = headerLength <= largestHeader && start <= bytes.length && start <= fileBytes
  check(
    fits,
    'the header is longer than the file',
    `${headerLength} bytes of header in ${fileBytes}`,
    'a header inside the file',
  )
  const header = parseHeader(bytes.subarray(8, start))
  check(isRecord(header), 'the header is not JSON', undefined, 'an object of tensors by name')

  const metadata = header.__metadata__ ?? {}
  check(isTextRecord(metadata), 'the header field __metadata__ is wrong', metadata, 'texts by name')
  const entries = Object.entries(header).filter(([name]) => name !== '__metadata__')
  const ranges: { name: string; from: number; to: number }[] = []
  const tensors: Record<string, TensorPlace> = {}
  for (const [name, entry] of entries) {
    check(isRecord(entry), `the header of the tensor ${name} is wrong`, entry, 'an object')
    const { dtype, shape, data_offsets: offsets } = entry
    check(
      isStoredType(dtype),
      `the tensor ${name} has a type that Agoge does not read`,
      dtype,
      'F32, F16 or BF16',
    )
    check(isSizes(shape), `the tensor ${name} has no valid shape`, shape, 'a list of sizes')
    check(
      isSizes(offsets) && offsets.length === 2,
      `the tensor ${name} has no valid data_offsets`,
      offsets,
      'two integers',
    )
    const [from, to] = offsets
    const expected = sizeOf(shape) * bytesOf[dtype]
    check(
      to - from === expected,
      `the tensor ${name} does not have the length of its shape`,
      to - from,
      `${expected} bytes`,
    )
    check(
      start + to <= fileBytes,
      `the tensor ${name} is cut off`,
      fileBytes,
      `a file of at least ${start + to} bytes`,
    )
    ranges.push({ name, from, to })
    tensors[name] = { type: dtype, shape, from: start + from, to: start + to }
  }
  let end = 0
  for (const { name, from, to } of ranges.toSorted((a, b) => a.from - b.from || a.to - b.to)) {
    check(from === end, `the tensor ${name} does not begin where the one before it ends`, from, String(end))
    end = to
  }
  check(start + end === fileBytes, 'there are bytes after the last tensor', fileBytes, `${start + end} bytes`)
  return { tensors, metadata }
}

function parseHeader(bytes: Uint8Array): unknown {
  try {
    return parseForeignJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}

function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isTextRecord(value: unknown): value is Record<string, string> {
  return isRecord(value) && Object.values(value).every((text) => typeof text === 'string')
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0)
}

function isStoredType(value: unknown): value is StoredType {
  return typeof value === 'string' && Object.hasOwn(bytesOf, value)
}
