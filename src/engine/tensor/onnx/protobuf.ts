const utf8 = new TextEncoder()

/** The wire format of protocol buffers, as far as ONNX models need it. */
export interface ProtobufWriter {
  int(field: number, value: number): void
  float(field: number, value: number): void
  bytes(field: number, value: Uint8Array): void
  text(field: number, value: string): void
  message(field: number, write: (writer: ProtobufWriter) => void): void
  finish(): Uint8Array
}

export function protobufWriter(): ProtobufWriter {
  const chunks: Uint8Array[] = []
  const push = (...bytes: number[]) => chunks.push(Uint8Array.from(bytes))

  function varint(value: number): void {
    // negative integers are their 64-bit two's complement
    let rest = BigInt.asUintN(64, BigInt(value))
    const bytes: number[] = []
    while (rest > 127n) {
      bytes.push(Number(rest & 127n) | 128)
      rest >>= 7n
    }
    bytes.push(Number(rest))
    push(...bytes)
  }

  const writer: ProtobufWriter = {
    int(field, value) {
      varint(field << 3)
      varint(value)
    },
    float(field, value) {
      varint((field << 3) | 5)
      const bytes = new Uint8Array(4)
      new DataView(bytes.buffer).setFloat32(0, value, true)
      chunks.push(bytes)
    },
    bytes(field, value) {
      varint((field << 3) | 2)
      varint(value.byteLength)
      chunks.push(value)
    },
    text(field, value) {
      writer.bytes(field, utf8.encode(value))
    },
    message(field, write) {
      const inner = protobufWriter()
      write(inner)
      writer.bytes(field, inner.finish())
    },
    finish() {
      const result = new Uint8Array(chunks.reduce((total, chunk) => total + chunk.byteLength, 0))
      let at = 0
      for (const chunk of chunks) {
        result.set(chunk, at)
        at += chunk.byteLength
      }
      return result
    },
  }
  return writer
}
