import { refuse } from '../refusal.ts'

/** One field of a message as it stands on the wire: a number for varints and fixed numbers, bytes for the rest. */
export interface WireField {
  number: number
  value: number | Uint8Array
}

/**
 * The fields of a protobuf message in their order (encoding: protobuf.dev/programming-guides/encoding). Whole numbers are signed, of up
 * to 53 bits.
 *
 * @throws AgogeError `tinker-bad-request` where the message is cut off or is none.
 */
export function* readMessage(bytes: Uint8Array): Generator<WireField> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0

  function need(count: number): number {
    const from = at
    if (count < 0 || from + count > bytes.length) throw broken('it is cut off')
    at += count
    return from
  }

  function varint(): number {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[need(1)]
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return Number(BigInt.asIntN(64, value))
    }
    throw broken('a number has no end')
  }

  while (at < bytes.length) {
    const key = varint()
    const number = key >>> 3
    if (number === 0) throw broken('a field has the number 0')
    switch (key & 7) {
      case 0:
        yield { number, value: varint() }
        break
      case 1:
        yield { number, value: view.getFloat64(need(8), true) }
        break
      case 2: {
        const length = varint()
        const from = need(length)
        yield { number, value: bytes.subarray(from, from + length) }
        break
      }
      case 5:
        yield { number, value: view.getFloat32(need(4), true) }
        break
      default:
        throw broken(`a field has the wire type ${key & 7}`)
    }
  }
}

export function bytesOf({ value }: WireField): Uint8Array {
  if (typeof value === 'number') throw broken('a number stands where bytes belong')
  return value
}

export function numberOf({ value }: WireField): number {
  if (typeof value !== 'number') throw broken('bytes stand where a number belongs')
  return value
}

export const textOf = (field: WireField): string => new TextDecoder().decode(bytesOf(field))

/** Repeated whole numbers, packed into bytes or one by one. */
export function numbersOf(field: WireField): number[] {
  if (typeof field.value === 'number') return [field.value]
  // A field 1 before each makes them a message, of which the reader knows how to read numbers.
  const values: number[] = []
  let from = 0
  for (let i = 0; i < field.value.length; i++) {
    if (field.value[i] >= 0x80) continue
    const part = field.value.subarray(from, i + 1)
    const tagged = new Uint8Array(part.length + 1)
    tagged[0] = 8
    tagged.set(part, 1)
    for (const { value } of readMessage(tagged)) values.push(value as number)
    from = i + 1
  }
  return values
}

/** Little-endian values of so many bytes each, aligned or not. */
export function copyAligned(bytes: Uint8Array, size: number): ArrayBuffer {
  if (bytes.length % size !== 0) throw broken(`${bytes.length} bytes do not make up values of ${size}`)
  return bytes.slice().buffer
}

function broken(how: string): Error {
  return refuse('tinker-bad-request', `The body is no protobuf message of this protocol: ${how}`, {
    expected: 'a message of tinker_public, as the SDK 0.25.0 writes it, or JSON',
  })
}
