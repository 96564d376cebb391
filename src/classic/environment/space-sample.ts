import { AgogeError } from '../../error.ts'
import {
  type BoxSpace,
  describeSpace,
  type DictSpace,
  type DiscreteSpace,
  type Member,
  type MultiBinarySpace,
  type MultiDiscreteSpace,
  type SequenceSpace,
  type Space,
  type TextSpace,
  type TupleSpace,
} from './space.ts'
import { numpyStream, type NumpyStream } from './environment-random.ts'
import { boxArray } from './space-values.ts'
import type { EnvironmentRandom } from './definition.ts'

/**
 * Any random stream. From a NumPy stream, the draws equal those of Gymnasium from a generator in the same
 * state.
 */
export type SampleRandom = EnvironmentRandom & Partial<Pick<NumpyStream, 'exponential' | 'fillIntegers8'>>

/**
 * Restricts what is drawn.
 * - Discrete: 1 for each allowed choice. Multi-discrete: one such mask for each number.
 * - Multi-binary: 0 or 1 for a fixed bit, 2 for a random one.
 * - Text: the length, and 1 for each allowed character.
 * - Sequence: the length, or several lengths to choose from, and the mask of the entries.
 * - Tuple and dict: the masks of the parts. Boxes have no mask.
 */
export type SampleMask<S extends Space = Space> = S extends DiscreteSpace | MultiBinarySpace
  ? ArrayLike<number>
  : S extends MultiDiscreteSpace
    ? readonly ArrayLike<number>[]
    : S extends TextSpace
      ? { length?: number; characters?: ArrayLike<number> }
      : S extends SequenceSpace
        ? { length?: number | readonly number[]; entries?: unknown }
        : S extends TupleSpace
          ? readonly unknown[]
          : S extends DictSpace
            ? Readonly<Record<string, unknown>>
            : never

/**
 * Draws a random member of a space, by Gymnasium's rules. Entries of a box are uniform between two bounds,
 * exponential from one bound, normal without bounds, and floored for integers. Sequences have geometric lengths
 * of mean 4. All else is uniform. To reproduce a seeded Gymnasium space exactly, use `seededSampler`.
 *
 * @throws AgogeError `empty-mask` if a mask allows nothing, `bad-argument` if it does not fit the space
 */
export function sampleSpace<S extends Space>(
  space: S,
  random: SampleRandom,
  options: { mask?: SampleMask<S> | undefined } = {},
): Member<S> {
  return sampler(space, () => random)(options.mask) as Member<S>
}

/**
 * Returns a function that draws the same members as Gymnasium after `space.seed(seed)`, with one
 * `space.sample(mask)` for each call. Every part of a tuple, dict or sequence has its own NumPy stream.
 * Gymnasium sorts the names of a dict, so declare them sorted.
 */
export function seededSampler<S extends Space>(space: S, seed: number): (mask?: SampleMask<S>) => Member<S> {
  return sampler(space, numpyStream, seed) as (mask?: SampleMask<S>) => Member<S>
}

type Sample = (mask?: unknown) => unknown

function sampler(space: Space, stream: (seed: number) => SampleRandom, seed = 0): Sample {
  const random = stream(seed)
  // Only draws seeds for parts if each part has its own stream.
  const ownStreams = stream === numpyStream
  const child = (part: Space): Sample => sampler(part, stream, ownStreams ? random.integers(2 ** 31 - 1) : 0)
  switch (space.type) {
    case 'box':
      return (mask) => {
        if (mask !== undefined) throw badMask(space, mask, 'no mask')
        return sampleBox(space, random)
      }
    case 'discrete':
      return (mask) =>
        space.start +
        (mask === undefined ? random.integers(space.n) : sampleAllowed(space, random, mask, space.n))
    case 'multi-discrete':
      return (mask) => {
        const masks = mask as readonly ArrayLike<number>[] | undefined
        return Int32Array.from(space.counts, (n, k) =>
          masks === undefined ? Math.floor(random.random() * n) : sampleAllowed(space, random, masks[k], n),
        )
      }
    case 'multi-binary':
      return (mask) => sampleBits(space, random, mask as ArrayLike<number> | undefined)
    case 'text':
      return (mask) => sampleText(space, random, mask as SampleMask<TextSpace> | undefined)
    case 'tuple': {
      const draws = space.spaces.map(child)
      return (mask) => draws.map((draw, k) => draw((mask as readonly unknown[] | undefined)?.[k]))
    }
    case 'dict': {
      const draws = Object.entries(space.spaces).map(([name, part]): [string, Sample] => [name, child(part)])
      return (mask) =>
        Object.fromEntries(
          draws.map(([name, draw]) => [name, draw((mask as Record<string, unknown> | undefined)?.[name])]),
        )
    }
    case 'sequence': {
      const draw = child(space.space)
      // Gymnasium seeds a sequence again after it has drawn the seed of its entries.
      const own = ownStreams ? stream(seed) : random
      return (mask) => {
        const { length, entries } = (mask ?? {}) as SampleMask<SequenceSpace>
        const count =
          typeof length === 'number'
            ? length
            : length === undefined
              ? Math.ceil(exponential(own) / -Math.log1p(-0.25))
              : length[own.integers(length.length)]
        return Array.from({ length: count }, () => draw(entries))
      }
    }
  }
}

function sampleBox(space: BoxSpace, random: SampleRandom): Member<BoxSpace> {
  const { low, high, dtype } = space
  const size = low.length
  const whole = dtype === 'int32' || dtype === 'uint8'
  const bound = (value: number): number => (dtype === 'float32' ? Math.fround(value) : value)
  const drawn = new Float64Array(size)
  // Gymnasium draws the entries of a box grouped by kind of bounds.
  for (let k = 0; k < size; k++) if (low[k] === -Infinity && high[k] === Infinity) drawn[k] = random.normal()
  for (let k = 0; k < size; k++)
    if (low[k] !== -Infinity && high[k] === Infinity) drawn[k] = exponential(random) + bound(low[k])
  for (let k = 0; k < size; k++)
    if (low[k] === -Infinity && high[k] !== Infinity)
      drawn[k] = -exponential(random) + bound(high[k]) + (whole ? 1 : 0)
  for (let k = 0; k < size; k++)
    if (low[k] !== -Infinity && high[k] !== Infinity)
      drawn[k] = random.uniform(bound(low[k]), bound(high[k]) + (whole ? 1 : 0))
  const member = boxArray(space)
  const [least, most] = dtype === 'int32' ? [-(2 ** 31) + 2, 2 ** 31 - 3] : [0, 255]
  for (let k = 0; k < size; k++)
    member[k] = whole ? Math.min(Math.max(Math.floor(drawn[k]), least), most) : drawn[k]
  return member
}

function sampleAllowed(space: Space, random: SampleRandom, mask: unknown, n: number): number {
  const given = mask as ArrayLike<number>
  if (typeof given !== 'object' || given === null || given.length !== n)
    throw badMask(space, mask, `${n} numbers, 1 = allowed`)
  const allowed: number[] = []
  for (let k = 0; k < n; k++) if (given[k] === 1) allowed.push(k)
  if (allowed.length === 0) {
    throw new AgogeError(`a mask of ${describeSpace(space)} allows nothing`, {
      code: 'empty-mask',
      given: mask,
      expected: 'at least one entry of 1',
    })
  }
  return allowed[random.integers(allowed.length)]
}

function sampleBits(space: MultiBinarySpace, random: SampleRandom, mask?: ArrayLike<number>): Uint8Array {
  const bits = new Uint8Array(space.n)
  if (random.fillIntegers8 !== undefined) random.fillIntegers8(2, bits)
  else for (let k = 0; k < space.n; k++) bits[k] = random.integers(2)
  if (mask !== undefined) {
    if (mask.length !== space.n) throw badMask(space, mask, `${space.n} numbers: 0, 1 or 2 for random`)
    for (let k = 0; k < space.n; k++) if (mask[k] !== 2) bits[k] = mask[k]
  }
  return bits
}

function sampleText(space: TextSpace, random: SampleRandom, mask?: SampleMask<TextSpace>): string {
  const characters = Array.from(space.characters)
  const weights = mask?.characters ?? characters.map(() => 1)
  if (weights.length !== characters.length)
    throw badMask(space, mask, `${characters.length} numbers for the characters, 1 = allowed`)
  const total = Array.from(weights).reduce((sum, weight) => sum + weight, 0)
  const length = mask?.length ?? space.minLength + random.integers(space.maxLength - space.minLength + 1)
  if (total === 0 && length > 0) throw badMask(space, mask, 'at least one allowed character')
  // Gymnasium and NumPy each normalise the probabilities.
  let sum = 0
  const cumulative = Array.from(weights, (weight) => (sum += weight / total))
  return Array.from({ length }, () => {
    const draw = random.random()
    return characters[cumulative.findIndex((value) => value / sum > draw)]
  }).join('')
}

/** Standard exponential. Uses inversion if the stream has no exponential draw. */
const exponential = (random: SampleRandom): number =>
  random.exponential === undefined ? -Math.log1p(-random.random()) : random.exponential()

function badMask(space: Space, given: unknown, expected: string): AgogeError {
  return new AgogeError(`a mask does not fit ${describeSpace(space)}`, {
    code: 'bad-argument',
    given,
    expected,
  })
}
