import { expect, test } from 'vitest'
import { createPcg64 } from './pcg64.ts'

// Made with NumPy's default_rng(seed): three random(), eight integers(0, 10), two integers(-5, 2**40), three integers(0, 2**32),
// four integers(0, 3 * 2**30), integers(3, 4), random().
const golden = [
  {
    seed: 0n,
    floats: [0.6369616873214543, 0.2697867137638703, 0.04097352393619469],
    digits: [0, 0, 1, 8, 6, 9, 5, 6],
    wide: [802089951223, 597721999263],
    words: [2404827117, 4016105479, 1191196492],
    threeQuarters: [2628048249, 2761892495, 1785573335, 108186710],
    last: 0.7296554464299441,
  },
  {
    seed: 42n,
    floats: [0.7739560485559633, 0.4388784397520523, 0.8585979199113825],
    digits: [0, 6, 2, 0, 5, 9, 7, 7],
    wide: [864286843830, 140862428799],
    words: [3606691182, 1934392873, 2148995113],
    threeQuarters: [1194424040, 588033539, 2985318988, 2517604996],
    last: 0.82276161327083,
  },
  {
    seed: 2n ** 70n + 12345n,
    floats: [0.23007034884505184, 0.5915818432906566, 0.6697711392394274],
    digits: [4, 2, 3, 7, 2, 3, 6, 0],
    wide: [708866962738, 184089679289],
    words: [887419191, 2154554837, 4249402543],
    threeQuarters: [1630403358, 886736510, 971382967, 2800943880],
    last: 0.6240259513658067,
  },
]

test.each(golden)('is bit-exact with NumPy for seed $seed', (expected) => {
  const random = createPcg64(expected.seed)
  const draws = (count: number, draw: () => number) => Array.from({ length: count }, draw)
  expect(draws(3, () => random.random())).toEqual(expected.floats)
  expect(draws(8, () => random.integers(0, 10))).toEqual(expected.digits)
  expect(draws(2, () => random.integers(-5, 2 ** 40))).toEqual(expected.wide)
  expect(draws(3, () => random.integers(0, 2 ** 32))).toEqual(expected.words)
  expect(draws(4, () => random.integers(0, 3 * 2 ** 30))).toEqual(expected.threeQuarters)
  expect(random.integers(3, 4)).toBe(3)
  expect(random.random()).toBe(expected.last)
})

test('refuses an empty range and a negative seed', () => {
  expect(() => createPcg64(1).integers(3, 3)).toThrow('integers(low, high)')
  expect(() => createPcg64(-1)).toThrow('not negative')
})
