import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { fastStream, numpyStream } from './environment-random.ts'
import {
  box,
  describeSpace,
  dict,
  discrete,
  multiBinary,
  multiDiscrete,
  sequence,
  type Space,
  text,
  tuple,
  contains,
  explainMismatch,
} from './space.ts'
import { flatSize, flatSpace, flatten, unflatten } from './space-values.ts'
import { sampleSpace, seededSampler } from './space-sample.ts'
import type { SampleMask } from './space-sample.ts'

/** Made by golden/make_space_golden.py. */
const golden = JSON.parse(readFileSync(new URL('golden/spaces.json', import.meta.url), 'utf8')) as {
  cases: Record<string, unknown[]>
  flattened: { member: unknown; flat: number[] }[]
}

const mixed = [
  [-1, -Infinity, 0, -Infinity, 2],
  [1, Infinity, Infinity, 3, 5],
] as const
const parts = { a: discrete(3), b: box([2], -1, 1), c: multiBinary(3) }
const spaces: Record<string, [Space, unknown?]> = {
  discrete: [discrete(2)],
  'discrete-start': [discrete(7, -3)],
  'discrete-mask': [discrete(5), [0, 1, 0, 1, 1]],
  box: [box([2], -1, 1)],
  'box-unbounded': [box([3], -Infinity, Infinity)],
  'box-half': [box([2], 0, Infinity)],
  'box-mixed': [box([5], mixed[0], mixed[1], 'float64')],
  'box-bounds32': [box([3], -0.41887903, 0.1)],
  'box-int32': [box([4], -3, 3, 'int32')],
  'box-uint8': [box([2, 2], 0, 255, 'uint8')],
  'multi-discrete': [multiDiscrete([2, 5, 9])],
  'multi-discrete-mask': [
    multiDiscrete([2, 3]),
    [
      [1, 1],
      [0, 1, 1],
    ],
  ],
  'multi-binary': [multiBinary(3)],
  'multi-binary-6': [multiBinary(6)],
  'multi-binary-mask': [multiBinary(4), [0, 1, 2, 2]],
  text: [text(6)],
  'text-short': [text(4, { minLength: 0, characters: 'abc' })],
  'text-mask': [text(4, { characters: 'abcd' }), { length: 3, characters: [1, 0, 1, 0] }],
  tuple: [tuple(discrete(4), box([2], -Infinity, Infinity), tuple(discrete(2), multiDiscrete([3, 3])))],
  dict: [dict(parts)],
  sequence: [sequence(discrete(5))],
  'sequence-mask': [sequence(discrete(3)), { length: [1, 2], entries: [1, 0, 1] }],
}

/** Typed arrays as lists. */
const plain = (value: unknown): unknown => {
  if (ArrayBuffer.isView(value)) return [...(value as Float32Array)]
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, plain(part)]))
  return value
}

test.each(Object.keys(golden.cases))(
  'a seeded sampler draws the same members as Gymnasium’s space: %s',
  (name) => {
    const [space, mask] = spaces[name]
    const draw = seededSampler(space, 123)
    const drawn = golden.cases[name].map(() => draw(mask as SampleMask))
    expect(plain(drawn)).toEqual(golden.cases[name])
    for (const member of drawn) expect(explainMismatch(space, member)).toBeUndefined()
  },
)

test('a NumPy stream samples a simple space as Gymnasium does', () => {
  const random = numpyStream(123)
  const drawn = golden.cases.box.map(() => sampleSpace(box([2], -1, 1), random))
  expect(plain(drawn)).toEqual(golden.cases.box)
})

test('flat forms equal those of Gymnasium', () => {
  const space = tuple(
    dict({ ...parts, d: multiDiscrete([2, 3]) }),
    text(5, { characters: 'abc' }),
    discrete(3, 2),
  )
  for (const { member, flat } of golden.flattened) {
    expect([...flatten(space, member, new Float64Array(flatSize(space)))]).toEqual(flat)
    expect(plain(unflatten(space, flat))).toEqual(member)
  }
  expect(flatSpace(space).low.length).toBe(flatSize(space))
})

const leaf: fc.Arbitrary<Space> = fc.oneof(
  fc.tuple(fc.integer({ min: 1, max: 5 }), fc.integer({ min: -3, max: 3 })).map(([n, at]) => discrete(n, at)),
  fc
    .array(fc.constantFrom([-1, 1], [0, Infinity], [-Infinity, 2], [-Infinity, Infinity], [3, 3]), {
      minLength: 1,
      maxLength: 4,
    })
    .chain((bounds) =>
      fc.constantFrom('float32' as const, 'float64' as const, 'int32' as const).map((dtype) =>
        box(
          [bounds.length],
          bounds.map(([low]) => low),
          bounds.map(([, high]) => high),
          dtype,
        ),
      ),
    ),
  fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 }).map(multiDiscrete),
  fc.integer({ min: 1, max: 6 }).map(multiBinary),
  fc.integer({ min: 0, max: 5 }).map((minLength) => text(5, { minLength, characters: 'xyzä' })),
)
const anySpace = fc.oneof(
  leaf,
  fc.array(leaf, { maxLength: 3 }).map((inner) => tuple(...inner)),
  fc.dictionary(fc.string({ minLength: 1, maxLength: 3 }), leaf, { maxKeys: 3 }).map(dict),
)

test('samples are members, and unflatten inverts flatten', () => {
  fc.assert(
    fc.property(anySpace, fc.integer(), (space, seed) => {
      const member = sampleSpace(space, fastStream(seed))
      expect(explainMismatch(space, member)).toBeUndefined()
      expect(contains(sequence(space), [member, member])).toBe(true)
      const flat = flatten(space, member, new Float64Array(flatSize(space)))
      expect(contains(flatSpace(space), flat)).toBe(true)
      expect(unflatten(space, flat)).toEqual(member)
    }),
    { seed: 1, numRuns: 300 },
  )
})

test.each<[Space, unknown, string]>([
  [discrete(3), 3, 'the action is 3, expected an integer from 0 to 2'],
  [discrete(3, 1), 0.5, 'the action is 0.5, expected an integer from 1 to 3'],
  [discrete(3), '1', 'the action is "1", expected an integer from 0 to 2'],
  [
    box([2], -1, 1),
    new Float32Array(3),
    'the action is a Float32Array of 3, expected a flat array of 2: box([2], float32)',
  ],
  [box([2], -1, 1), 0, 'the action is 0, expected a flat array of 2: box([2], float32)'],
  [box([2], -1, 1), [0, NaN], 'the action[1] is NaN, expected a number'],
  [box([2], -1, 1), [0, 1.5], 'the action[1] is 1.5, expected at most 1'],
  [box([2], -1, 1, 'int32'), [0.5, 0], 'the action[0] is 0.5, expected an integer'],
  [multiDiscrete([2, 3]), [1, 3], 'the action[1] is 3, expected an integer from 0 to 2'],
  [multiBinary(2), [1, 2], 'the action[1] is 2, expected an integer from 0 to 1'],
  [text(3, { characters: 'ab' }), 'abc', 'the action contains "c", expected characters of "ab"'],
  [text(3), '', 'the action has 0 characters, expected 1 to 3'],
  [dict({ a: discrete(2) }), {}, 'the action has no a, expected dict({ a: discrete(2) })'],
  [dict({ a: discrete(2) }), { a: 0, b: 0 }, 'the action has b, which is not in dict({ a: discrete(2) })'],
  [
    dict({ a: tuple(discrete(2), multiBinary(1)) }),
    { a: [2, [0]] },
    'the action.a[0] is 2, expected an integer from 0 to 1',
  ],
  [tuple(discrete(2)), [0, 0], 'the action is a list of 2, expected a list of 1: tuple(discrete(2))'],
  [sequence(discrete(2)), [0, 1, 2], 'the action[2] is 2, expected an integer from 0 to 1'],
  [sequence(text(4)), null, 'the action is null, expected a list: sequence(text of 1 to 4 characters)'],
])('a mismatch with %o of %o is explained', (space, value, sentence) => {
  expect(explainMismatch(space, value, 'the action')).toBe(sentence)
  expect(contains(space, value)).toBe(false)
})

test('float32 entries at a bound that is not a float32 number are members', () => {
  expect(contains(box([2], -0.1, 0.1), Float32Array.of(-0.1, 0.1))).toBe(true)
  expect(contains(box([1], -0.1, 0.1, 'float64'), Float32Array.of(0.1))).toBe(false)
})

test('impossible masks and spaces without a flat size are refused', () => {
  const random = fastStream(0)
  expect(() => sampleSpace(discrete(2), random, { mask: [0, 0] })).toThrow('allows nothing')
  expect(() => sampleSpace(discrete(2), random, { mask: [1] })).toThrow('does not fit discrete(2)')
  expect(() => sampleSpace(multiBinary(2), random, { mask: [1] })).toThrow('does not fit multiBinary(2)')
  expect(() => sampleSpace(text(2), random, { mask: { characters: [1] } })).toThrow('does not fit')
  expect(() => flatSize(dict({ a: sequence(discrete(2)) }))).toThrow('no flat form')
  expect(() => flatten(discrete(2), 2)).toThrow('expected an integer from 0 to 1')
})

test('describeSpace gives a short description', () => {
  expect(describeSpace(dict({ a: tuple(discrete(2), discrete(3, 1)), b: box([2, 3], 0, 1, 'uint8') }))).toBe(
    'dict({ a: tuple(discrete(2), discrete(3, start 1)), b: box([2, 3], uint8) })',
  )
})
