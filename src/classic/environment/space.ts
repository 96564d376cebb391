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

export interface TupleSpace {
  type: 'tuple'
  spaces: readonly Space[]
}

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

export const discrete = (n: number, start = 0): DiscreteSpace => ({ type: 'discrete', n, start })
export const multiDiscrete = (counts: readonly number[]): MultiDiscreteSpace => ({
  type: 'multi-discrete',
  counts,
})
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
