/** Instructions as bytes. Nested, so that pieces combine without copying. */
export type Code = readonly (number | Code)[]

/** Value types of WebAssembly. */
export const i32 = 0x7f
export const f32 = 0x7d
export const v128 = 0x7b
export type ValueType = typeof i32 | typeof f32 | typeof v128

/** Unsigned LEB128. */
export function unsigned(value: number): Code {
  const bytes: number[] = []
  do {
    const low = value & 0x7f
    value >>>= 7
    bytes.push(value === 0 ? low : low | 0x80)
  } while (value !== 0)
  return bytes
}

/** Signed LEB128. */
export function signed(value: number): Code {
  const bytes: number[] = []
  for (;;) {
    const low = value & 0x7f
    value >>= 7
    if ((value === 0 && (low & 0x40) === 0) || (value === -1 && (low & 0x40) !== 0)) return [...bytes, low]
    bytes.push(low | 0x80)
  }
}

const float = new DataView(new ArrayBuffer(4))
const floatBytes = (value: number): number[] => {
  float.setFloat32(0, value, true)
  return [0, 1, 2, 3].map((i) => float.getUint8(i))
}

const doubleBytes = (value: number): number[] => Array.from(new Uint8Array(Float64Array.of(value).buffer))

/** A local variable of the function. */
export interface Local {
  readonly get: Code
  set(value: Code): Code
  /** Sets it and leaves the value on the stack. */
  tee(value: Code): Code
  /** For i32: adds to it. */
  add(value: Code): Code
}

const binary =
  (...op: number[]) =>
  (a: Code, b: Code): Code => [a, b, op]
const unary =
  (...op: number[]) =>
  (a: Code): Code => [a, op]
const simd = (op: number): number[] => [0xfd, ...(unsigned(op) as number[])]
const memory = (op: readonly number[], align: number, offset: number): Code => [op, align, unsigned(offset)]

/** i32 arithmetic. */
export const int = {
  constant: (value: number): Code => [0x41, signed(value)],
  add: binary(0x6a),
  sub: binary(0x6b),
  mul: binary(0x6c),
  shiftLeft: binary(0x74),
  /** Unsigned, as `notLess`. */
  less: binary(0x49),
  notLess: binary(0x4f),
  and: binary(0x71),
  or: binary(0x72),
  /** The two low bytes. */
  store16: (address: Code, value: Code): Code => [address, value, memory([0x3b], 0, 0)],
  store: (address: Code, value: Code): Code => [address, value, memory([0x36], 2, 0)],
  /** Evaluates both twice. */
  smaller: (a: Code, b: Code): Code => [a, b, a, b, 0x49, 0x1b],
}

/** f32 arithmetic. */
export const scalar = {
  constant: (value: number): Code => [0x43, floatBytes(value)],
  add: binary(0x92),
  mul: binary(0x94),
  load: (address: Code, offset = 0): Code => [address, memory([0x2a], 2, offset)],
  store: (address: Code, value: Code, offset = 0): Code => [address, value, memory([0x38], 2, offset)],
}

/** Vectors of four f32. Comparisons give all bits or none. */
export const vector = {
  /** The same number four times. */
  constant: (value: number): Code => {
    const bytes = floatBytes(value)
    return [simd(0x0c), bytes, bytes, bytes, bytes]
  },
  splat: unary(...simd(0x13)),
  lane: (value: Code, lane: number): Code => [value, simd(0x1f), lane],
  /** Selects lanes of a (0 to 3) and b (4 to 7). */
  shuffle: (a: Code, b: Code, lanes: readonly number[]): Code => [
    a,
    b,
    simd(0x0d),
    lanes.flatMap((lane) => [0, 1, 2, 3].map((byte) => lane * 4 + byte)),
  ],
  add: binary(...simd(0xe4)),
  sub: binary(...simd(0xe5)),
  mul: binary(...simd(0xe6)),
  div: binary(...simd(0xe7)),
  /** As in JavaScript: NaN if one operand is NaN. */
  min: binary(...simd(0xe8)),
  max: binary(...simd(0xe9)),
  sqrt: unary(...simd(0xe3)),
  abs: unary(...simd(0xe0)),
  truncate: unary(...simd(0x69)),
  neg: unary(...simd(0xe1)),
  nearest: unary(...simd(0x6a)),
  equal: binary(...simd(0x41)),
  less: binary(...simd(0x43)),
  greater: binary(...simd(0x44)),
  and: binary(...simd(0x4e)),
  /** Bits of a where the mask is set, else those of b. */
  select: (a: Code, b: Code, mask: Code): Code => [a, b, mask, simd(0x52)],
  /** 2 to the power of n - 127, for an integer n from 0 (gives 0) to 255 (infinity). n becomes the bits of the exponent. */
  powerOfTwo: (n: Code): Code => [n, simd(0xf8), int.constant(23), simd(0xab)],
  /** Exponent and fraction of positive numbers: x = fraction 2^exponent, 1 <= fraction < 2. */
  exponent: (x: Code): Code => [
    [x, int.constant(23), simd(0xad)],
    [int.constant(127), simd(0x11), simd(0xb1), simd(0xfa)],
  ],
  fraction: (x: Code): Code => [
    [x, int.constant(0x7fffff), simd(0x11), simd(0x4e)],
    [int.constant(0x3f800000), simd(0x11), simd(0x50)],
  ],
  /** Converts the first two numbers, or the last two, to doubles. */
  double: (value: Code): Code => [value, simd(0x5f)],
  load: (address: Code, offset = 0): Code => [address, memory(simd(0x00), 2, offset)],
  /** One number, four times. */
  loadSplat: (address: Code, offset = 0): Code => [address, memory(simd(0x09), 2, offset)],
  /** One number, then zeros. */
  loadFirst: (address: Code, offset = 0): Code => [address, memory(simd(0x5c), 2, offset)],
  store: (address: Code, value: Code, offset = 0): Code => [address, value, memory(simd(0x0b), 2, offset)],
}

/** Vectors of two f64. Comparisons give all bits or none. */
export const doubles = {
  zero: [simd(0x0c), Array.from({ length: 16 }, () => 0)] as Code,
  /** The same number twice. */
  constant: (value: number): Code => {
    const bytes = doubleBytes(value)
    return [simd(0x0c), bytes, bytes]
  },
  add: binary(...simd(0xf0)),
  sub: binary(...simd(0xf1)),
  mul: binary(...simd(0xf2)),
  div: binary(...simd(0xf3)),
  neg: unary(...simd(0xed)),
  abs: unary(...simd(0xec)),
  greater: binary(...simd(0x4a)),
  notGreater: binary(...simd(0x4b)),
  or: binary(...simd(0x50)),
  /** Bits of a where the mask is set, else those of b. */
  select: (a: Code, b: Code, mask: Code): Code => [a, b, mask, simd(0x52)],
  /** i32: whether both masks are set. */
  both: unary(...simd(0xc3)),
  /** i32: one bit for each mask, the first lowest. */
  bits: unary(...simd(0xc4)),
  /** Widens the first two of four masks. */
  masks: unary(...simd(0xc7)),
  /** Selects numbers of a (0 and 1) and b (2 and 3). */
  shuffle: (a: Code, b: Code, [first, second]: readonly [number, number]): Code => [
    a,
    b,
    simd(0x0d),
    [first, second].flatMap((lane) => Array.from({ length: 8 }, (_, byte) => lane * 8 + byte)),
  ],
  /** Two f32, then zeros. */
  single: unary(...simd(0x5e)),
  load: (address: Code, offset = 0): Code => [address, memory(simd(0x00), 3, offset)],
  /** Eight bytes, then zeros. */
  loadFirst: (address: Code, offset = 0): Code => [address, memory(simd(0x5d), 2, offset)],
  store: (address: Code, value: Code, offset = 0): Code => [address, value, memory(simd(0x0b), 3, offset)],
}

/** Vectors of four i32, with conversions from and to bytes. Comparisons give all bits or none. */
export const integers = {
  constant: (value: number): Code => [int.constant(value), simd(0x11)],
  splat: unary(...simd(0x11)),
  add: binary(...simd(0xae)),
  and: binary(...simd(0x4e)),
  or: binary(...simd(0x50)),
  equal: binary(...simd(0x37)),
  notLess: binary(...simd(0x3f)),
  /** Four unsigned bytes. */
  loadBytes: (address: Code): Code => [address, memory(simd(0x5c), 0, 0), simd(0x89), simd(0xa9)],
  /** Stores numbers from -128 to 127 as bytes. */
  storeBytes: (address: Code, low: Local): Code => [
    address,
    [low.get, low.get, simd(0x85)],
    [low.get, low.get, simd(0x85)],
    [simd(0x65), simd(0x5a), 0, 0, 0],
  ],
  /** Widens the last two of four masks. */
  lastMasks: unary(...simd(0xc8)),
}

/** Runs `code` while `condition` (i32) holds. Tests the condition first. */
export const whileLoop = (condition: Code, code: Code): Code => [
  [0x02, 0x40, 0x03, 0x40],
  [condition, 0x45, 0x0d, 1],
  code,
  [0x0c, 0, 0x0b, 0x0b],
]

/** Runs `code` once, then again while `condition` (i32) holds. */
export const repeat = (code: Code, condition: Code): Code => [0x03, 0x40, code, condition, 0x0d, 0, 0x0b]

export const ifElse = (condition: Code, then: Code, otherwise: Code): Code => [
  condition,
  [0x04, 0x40],
  then,
  0x05,
  otherwise,
  0x0b,
]

export interface FunctionBuilder {
  /** A new local variable. */
  local(type: ValueType): Local
}

export interface WasmFunction {
  readonly name: string
  readonly parameters: readonly ValueType[]
  readonly code: (parameters: readonly Local[], builder: FunctionBuilder) => Code
}

function flatten(code: Code, to: number[] = []): number[] {
  for (const part of code) {
    if (typeof part === 'number') to.push(part)
    else flatten(part, to)
  }
  return to
}

const local = (index: number): Local => ({
  get: [0x20, unsigned(index)],
  set: (value) => [value, 0x21, unsigned(index)],
  tee: (value) => [value, 0x22, unsigned(index)],
  add: (value) => [[0x20, unsigned(index)], value, 0x6a, 0x21, unsigned(index)],
})

function functionBytes({ parameters, code }: WasmFunction): number[] {
  const types: ValueType[] = []
  const instructions = code(
    parameters.map((_, i) => local(i)),
    {
      local(type) {
        types.push(type)
        return local(parameters.length + types.length - 1)
      },
    },
  )
  const bytes = flatten([unsigned(types.length), types.map((type) => [1, type]), instructions, 0x0b])
  return flatten([unsigned(bytes.length), bytes])
}

/** A module of functions without results, which imports one memory, `env.memory`. */
export function assembleModule(functions: readonly WasmFunction[]): Uint8Array<ArrayBuffer> {
  const section = (id: number, items: readonly Code[]): Code => {
    const bytes = flatten([unsigned(items.length), ...items])
    return [id, unsigned(bytes.length), bytes]
  }
  const text = (value: string): Code => [value.length, Array.from(value, (c) => c.charCodeAt(0))]
  return Uint8Array.from(
    flatten([
      [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      section(
        1,
        functions.map(({ parameters }) => [0x60, unsigned(parameters.length), parameters, 0]),
      ),
      section(2, [[text('env'), text('memory'), 2, 0, 1]]),
      section(
        3,
        functions.map((_, i) => unsigned(i)),
      ),
      section(
        7,
        functions.map(({ name }, i) => [text(name), 0, unsigned(i)]),
      ),
      section(10, functions.map(functionBytes)),
    ]),
  )
}
