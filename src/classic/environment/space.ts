/**
 * The values that observations and actions may have. Spaces are plain data. See `sampleSpace`, `contains` and
 * `flatten`.
 */
export type Space =
  | BoxSpace
  | DiscreteSpace
  | MultiDiscreteSpace
  | MultiBinarySpace
  | TextSpace
  | TupleSpace
  | DictSpace
  | SequenceSpace

/** Spaces whose members are rows of numbers of a fixed length. Classic RL uses these. */
export type ArraySpace = BoxSpace | DiscreteSpace | MultiDiscreteSpace | MultiBinarySpace

/** Arrays of numbers between bounds, which may be infinite. Members are typed arrays in row-major order. */
export interface BoxSpace {
  type: 'box'
  shape: readonly number[]
  /** One bound for each number, row-major. */
  low: Float64Array
  high: Float64Array
  dtype: 'float32' | 'float64' | 'int32' | 'uint8'
}

/** Whether members of the box are integers. */
export const hasIntegers = ({ dtype }: BoxSpace): boolean => dtype === 'int32' || dtype === 'uint8'

/** The integers start, start + 1, ... start + n - 1. */
export interface DiscreteSpace {
  type: 'discrete'
  n: number
  start: number
}

/** Several discrete choices at once, the i-th from 0 to counts[i] - 1. */
export interface MultiDiscreteSpace {
  type: 'multi-discrete'
  counts: readonly number[]
}

/** `n` bits, 0 or 1. */
export interface MultiBinarySpace {
  type: 'multi-binary'
  n: number
}

/** Strings of `minLength` to `maxLength` characters, all from `characters`. */
export interface TextSpace {
  type: 'text'
  minLength: number
  maxLength: number
  characters: string
}

/** Lists of a fixed length. The i-th entry is a member of `spaces[i]`. */
export interface TupleSpace {
  type: 'tuple'
  spaces: readonly Space[]
}

/** Objects with one entry for each name of `spaces`. An entry is a member of the space with its name. */
export interface DictSpace {
  type: 'dict'
  spaces: Readonly<Record<string, Space>>
}

/** Lists of any length. Every entry is a member of `space`. */
export interface SequenceSpace {
  type: 'sequence'
  space: Space
}

/** The type of the members of a space. */
export type Member<S extends Space> = S extends BoxSpace
  ? Float32Array | Float64Array | Int32Array | Uint8Array
  : S extends DiscreteSpace
    ? number
    : S extends MultiDiscreteSpace
      ? Int32Array
      : S extends MultiBinarySpace
        ? Uint8Array
        : S extends TextSpace
          ? string
          : S extends TupleSpace
            ? unknown[]
            : S extends DictSpace
              ? Record<string, unknown>
              : S extends SequenceSpace
                ? unknown[]
                : never

/**
 * A space of arrays of a shape. Each bound is one number for all entries, or one for each entry.
 *
 * @param dtype the type of the members. Default: `float32`.
 *
 * @example
 * const observation = box([4], -1, 1)
 */
export function box(
  shape: readonly number[],
  low: number | ArrayLike<number>,
  high: number | ArrayLike<number>,
  dtype: BoxSpace['dtype'] = 'float32',
): BoxSpace {
  const size = shape.reduce((product, length) => product * length, 1)
  const bounds = (given: number | ArrayLike<number>): Float64Array =>
    typeof given === 'number' ? new Float64Array(size).fill(given) : Float64Array.from(given)
  return { type: 'box', shape, low: bounds(low), high: bounds(high), dtype }
}

/**
 * A space of the `n` integers from `start` to `start + n - 1`. Members are numbers. Default `start`: 0.
 *
 * @example
 * const action = discrete(4) // 0, 1, 2 or 3
 */
export const discrete = (n: number, start = 0): DiscreteSpace => ({ type: 'discrete', n, start })
/**
 * A space of several discrete choices at once. The i-th choice is an integer from 0 to `counts[i] - 1`. Members are
 * Int32Arrays of the length of `counts`.
 *
 * @example
 * const action = multiDiscrete([3, 2])
 */
export const multiDiscrete = (counts: readonly number[]): MultiDiscreteSpace => ({
  type: 'multi-discrete',
  counts,
})
/** A space of `n` bits, 0 or 1. Members are Uint8Arrays of length `n`. */
export const multiBinary = (n: number): MultiBinarySpace => ({ type: 'multi-binary', n })

/** The length of a member of an array space, flattened: 1 for a discrete space. */
export function rowSize(space: ArraySpace): number {
  switch (space.type) {
    case 'box':
      return space.low.length
    case 'discrete':
      return 1
    case 'multi-discrete':
      return space.counts.length
    case 'multi-binary':
      return space.n
  }
}

const alphanumeric = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

/** A space of strings of `minLength` to `maxLength` characters. Defaults: `minLength` 1, letters and digits. */
export const text = (
  maxLength: number,
  { minLength = 1, characters = alphanumeric }: { minLength?: number; characters?: string } = {},
): TextSpace => ({ type: 'text', minLength, maxLength, characters })

/** A space of lists. The i-th entry is a member of the i-th space. */
export const tuple = (...spaces: Space[]): TupleSpace => ({ type: 'tuple', spaces })

/** A space of objects. Each entry is a member of the space with the same name. */
export const dict = (spaces: Readonly<Record<string, Space>>): DictSpace => ({ type: 'dict', spaces })

/** A space of lists of any length. Every entry is a member of `space`. */
export const sequence = (space: Space): SequenceSpace => ({ type: 'sequence', space })

/** A short description of a space, for errors: `discrete(2)`, `box([4], float32)`, `dict({ a: discrete(2) })`. */
export function describeSpace(space: Space): string {
  switch (space.type) {
    case 'box':
      return `box([${space.shape.join(', ')}], ${space.dtype})`
    case 'discrete':
      return space.start === 0 ? `discrete(${space.n})` : `discrete(${space.n}, start ${space.start})`
    case 'multi-discrete':
      return `multiDiscrete([${space.counts.join(', ')}])`
    case 'multi-binary':
      return `multiBinary(${space.n})`
    case 'text':
      return `text of ${space.minLength} to ${space.maxLength} characters`
    case 'tuple':
      return `tuple(${space.spaces.map(describeSpace).join(', ')})`
    case 'dict':
      return `dict({ ${Object.entries(space.spaces)
        .map(([name, part]) => `${name}: ${describeSpace(part)}`)
        .join(', ')} })`
    case 'sequence':
      return `sequence(${describeSpace(space.space)})`
  }
}

/** Whether a value is a member of a space. A box accepts any flat array of numbers, row-major. */
export const contains = (space: Space, value: unknown): boolean => explainMismatch(space, value) === undefined

/**
 * Explains why a value is not a member of a space, as a sentence with the given and the expected value. Returns
 * `undefined` for a member. `name` names the value in the sentence.
 */
export function explainMismatch(space: Space, value: unknown, name = 'the value'): string | undefined {
  switch (space.type) {
    case 'box':
      return explainBox(space, value, name)
    case 'discrete':
      return explainInteger(value, space.start, space.start + space.n - 1, name)
    case 'multi-discrete':
      return explainRow(
        space,
        value,
        space.counts.length,
        (entry, k) => explainInteger(entry, 0, space.counts[k] - 1, `${name}[${k}]`),
        name,
      )
    case 'multi-binary':
      return explainRow(
        space,
        value,
        space.n,
        (entry, k) => explainInteger(entry, 0, 1, `${name}[${k}]`),
        name,
      )
    case 'text':
      return explainText(space, value, name)
    case 'tuple': {
      if (!Array.isArray(value) || value.length !== space.spaces.length)
        return `${name} is ${show(value)}, expected a list of ${space.spaces.length}: ${describeSpace(space)}`
      return first(space.spaces, (part, k) => explainMismatch(part, value[k], `${name}[${k}]`))
    }
    case 'dict': {
      const names = Object.keys(space.spaces)
      if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || Array.isArray(value))
        return `${name} is ${show(value)}, expected an object: ${describeSpace(space)}`
      const given = value as Record<string, unknown>
      const missing = names.find((key) => !Object.hasOwn(given, key))
      if (missing !== undefined) return `${name} has no ${missing}, expected ${describeSpace(space)}`
      const unknown = Object.keys(given).find((key) => !Object.hasOwn(space.spaces, key))
      if (unknown !== undefined) return `${name} has ${unknown}, which is not in ${describeSpace(space)}`
      return first(names, (key) => explainMismatch(space.spaces[key], given[key], `${name}.${key}`))
    }
    case 'sequence':
      if (!Array.isArray(value)) return `${name} is ${show(value)}, expected a list: ${describeSpace(space)}`
      return first(value, (entry, k) => explainMismatch(space.space, entry, `${name}[${k}]`))
  }
}

function explainBox(space: BoxSpace, value: unknown, name: string): string | undefined {
  // A float32 entry at a bound equals the bound rounded to float32.
  const round = space.dtype === 'float32' ? Math.fround : (bound: number) => bound
  const whole = hasIntegers(space)
  return explainRow(
    space,
    value,
    space.low.length,
    (entry, k) => {
      const low = Math.min(space.low[k], round(space.low[k]))
      const high = Math.max(space.high[k], round(space.high[k]))
      if (typeof entry !== 'number' || Number.isNaN(entry))
        return `${name}[${k}] is ${show(entry)}, expected a number`
      if (entry < low) return `${name}[${k}] is ${entry}, expected at least ${low}`
      if (entry > high) return `${name}[${k}] is ${entry}, expected at most ${high}`
      return whole && !Number.isInteger(entry) ? `${name}[${k}] is ${entry}, expected an integer` : undefined
    },
    name,
  )
}

/** Checks the length of a row of numbers, then its entries. */
function explainRow(
  space: Space,
  value: unknown,
  length: number,
  explain: (entry: unknown, k: number) => string | undefined,
  name: string,
): string | undefined {
  const isArray = Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView))
  if (!isArray || (value as unknown as ArrayLike<unknown>).length !== length)
    return `${name} is ${show(value)}, expected a flat array of ${length}: ${describeSpace(space)}`
  const row = value as unknown as ArrayLike<unknown>
  for (let k = 0; k < length; k++) {
    const why = explain(row[k], k)
    if (why !== undefined) return why
  }
  return undefined
}

function explainInteger(value: unknown, low: number, high: number, name: string): string | undefined {
  if (Number.isInteger(value) && (value as number) >= low && (value as number) <= high) return undefined
  return `${name} is ${show(value)}, expected an integer from ${low} to ${high}`
}

function explainText(
  space: Extract<Space, { type: 'text' }>,
  value: unknown,
  name: string,
): string | undefined {
  if (typeof value !== 'string') return `${name} is ${show(value)}, expected ${describeSpace(space)}`
  const length = Array.from(value).length
  if (length < space.minLength || length > space.maxLength)
    return `${name} has ${length} characters, expected ${space.minLength} to ${space.maxLength}`
  const allowed = new Set(space.characters)
  const stranger = Array.from(value).find((character) => !allowed.has(character))
  return stranger === undefined
    ? undefined
    : `${name} contains ${show(stranger)}, expected characters of ${show(space.characters)}`
}

function first<T>(
  values: readonly T[],
  explain: (value: T, k: number) => string | undefined,
): string | undefined {
  for (let k = 0; k < values.length; k++) {
    const why = explain(values[k], k)
    if (why !== undefined) return why
  }
  return undefined
}

/** A short description of a value. */
function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value)
  if (ArrayBuffer.isView(value)) return `a ${value.constructor.name} of ${(value as Uint8Array).length}`
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'object' && value !== null)
    return `an object with ${Object.keys(value).join(', ') || 'no entries'}`
  if (typeof value === 'function') return 'a function'
  return String(value)
}
