/** What observations and actions may be. Spaces are plain data; `sampleSpace`, `contains` and others work on them. */
export type Space =
  | BoxSpace
  | DiscreteSpace
  | MultiDiscreteSpace
  | MultiBinarySpace
  | TextSpace
  | TupleSpace
  | DictSpace
  | SequenceSpace

/** Spaces whose members are rows of numbers of one length: those of classic RL. */
export type ArraySpace = BoxSpace | DiscreteSpace | MultiDiscreteSpace | MultiBinarySpace

/** Arrays of numbers between bounds, which may be infinite. Members are typed arrays, row-major. */
export interface BoxSpace {
  type: 'box'
  shape: readonly number[]
  /** One a number, row-major. */
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

/** `n` bits. */
export interface MultiBinarySpace {
  type: 'multi-binary'
  n: number
}

/** Strings of minLength to maxLength characters out of `characters`. */
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

/** Lists of any length of members of one space. */
export interface SequenceSpace {
  type: 'sequence'
  space: Space
}

/** The members of a space. */
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

/** A box; bounds are one number for all or one each. */
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

/** Numbers in one member of an array space: 1 for a discrete one. */
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
