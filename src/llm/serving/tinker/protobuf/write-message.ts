/** A message in the making: parts of bytes, written one after the other. */
export type Part = Uint8Array

/** A whole number of 0 or more, seven bits a byte. */
function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  bytes.push(rest)
  return Uint8Array.from(bytes)
}

/** As proto3 has it, a value of 0 is not written. */
export function numberField(field: number, value: number): Part[] {
  return value === 0 ? [] : [varint(field * 8), varint(value)]
}

export function doubleField(field: number, value: number): Part[] {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setFloat64(0, value, true)
  return [varint(field * 8 + 1), bytes]
}

/** Bytes, texts and messages; written also where they are empty. */
export function bytesField(field: number, parts: readonly Part[]): Part[] {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  return [varint(field * 8 + 2), varint(length), ...parts]
}

export const textField = (field: number, text: string): Part[] =>
  text === '' ? [] : bytesField(field, [new TextEncoder().encode(text)])

export function join(parts: readonly Part[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** The memory of values, which is little-endian on every machine that runs this. */
export const asBytes = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)
