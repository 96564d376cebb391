import { expect, test } from 'vitest'
import { hash32, uniformAt, createRandom } from './random.ts'

/** Pearson's chi-squared statistic of counts against equal chances. */
function chiSquared(counts: number[]): number {
  const expected = counts.reduce((a, b) => a + b, 0) / counts.length
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
}

test('equal keys give the same stream, different keys different streams', () => {
  const stream = (...keys: (string | number)[]) => {
    const random = createRandom(7, ...keys)
    return [random.next(), random.next(), random.normal(), random.int(1000)]
  }
  expect(stream('a', 1)).toEqual(stream('a', 1))
  for (const other of [stream('a', 2), stream(1, 'a'), stream('a', '1'), stream('a'), stream('a', 1, 0)]) {
    expect(other).not.toEqual(stream('a', 1))
  }
})

test('split does not depend on earlier draws and differs from its parent', () => {
  const parent = createRandom('seed')
  const early = parent.split('child', 3).next()
  parent.next()
  expect(parent.split('child', 3).next()).toBe(early)
  expect(createRandom('seed', 'child', 3).next()).toBe(early)
  expect(createRandom('seed').next()).not.toBe(early)
})

test('state and restore continue the stream exactly', () => {
  const random = createRandom(3)
  random.next()
  const state = JSON.parse(JSON.stringify(random.state()))
  const expected = [random.next(), random.normal(), random.int(10)]
  const other = createRandom('unrelated')
  other.restore(state)
  expect([other.next(), other.normal(), other.int(10)]).toEqual(expected)
})

test('draws are uniform, also over adjacent seeds, keys and counters', () => {
  const bins = 64
  const draws = 64_000
  const random = createRandom(1)
  const sources: ((i: number) => number)[] = [
    () => random.next(),
    (i) => createRandom(i).next(),
    (i) => uniformAt(5, 9, i),
    (i) => uniformAt(5, i, 0),
    (i) => uniformAt(i, 'row', 0),
    (i) => hash32('name', i) / 2 ** 32,
    (i) => uniformAt(5, 9, i) * 4096 - Math.floor(uniformAt(5, 9, i) * 4096),
  ]
  for (const source of sources) {
    const counts = Array.from({ length: bins }, () => 0)
    for (let i = 0; i < draws; i++) counts[Math.floor(source(i) * bins)]++
    // 63 degrees of freedom: mean 63, standard deviation 11.2; 130 is six standard deviations up.
    expect(chiSquared(counts)).toBeLessThan(130)
  }
})

test('consecutive counters are not correlated', () => {
  let sum = 0
  const n = 50_000
  for (let i = 0; i < n; i++) sum += (uniformAt(1, 'a', i) - 0.5) * (uniformAt(1, 'a', i + 1) - 0.5)
  expect(Math.abs((sum / n) * 12)).toBeLessThan(5 / Math.sqrt(n))
})

test('normal has the moments of a standard normal', () => {
  const random = createRandom('normal')
  const n = 100_000
  let [mean, square, fourth] = [0, 0, 0]
  for (let i = 0; i < n; i++) {
    const x = random.normal()
    mean += x / n
    square += (x * x) / n
    fourth += x ** 4 / n
  }
  expect(Math.abs(mean)).toBeLessThan(0.016)
  expect(Math.abs(square - 1)).toBeLessThan(0.025)
  expect(Math.abs(fourth - 3)).toBeLessThan(0.16)
})

test('weighted samples in proportion to the weights and never samples a weight of zero', () => {
  const random = createRandom('weights')
  const counts = [0, 0, 0, 0]
  for (let i = 0; i < 40_000; i++) counts[random.weighted([0, 1, 3, 0])]++
  expect(counts[0] + counts[3]).toBe(0)
  expect(counts[2] / counts[1]).toBeGreaterThan(2.8)
  expect(counts[2] / counts[1]).toBeLessThan(3.2)
  expect(() => random.weighted([0, 0])).toThrow('No weight is above zero')
  expect(() => random.weighted([1, -1])).toThrow('Weight 1')
})

test('shuffle gives every order with equal frequency and does not change its argument', () => {
  const random = createRandom('orders')
  const values = ['a', 'b', 'c'] as const
  const counts = new Map<string, number>()
  for (let i = 0; i < 12_000; i++) {
    const order = random.shuffle(values).join('')
    counts.set(order, (counts.get(order) ?? 0) + 1)
  }
  expect(values).toEqual(['a', 'b', 'c'])
  expect(counts.size).toBe(6)
  expect(chiSquared([...counts.values()])).toBeLessThan(25)
})

test('int and pick cover their range and refuse an empty one', () => {
  const random = createRandom('range')
  expect(new Set(Array.from({ length: 200 }, () => random.int(5)))).toEqual(new Set([0, 1, 2, 3, 4]))
  expect(new Set(Array.from({ length: 100 }, () => random.pick(['x', 'y'])))).toEqual(new Set(['x', 'y']))
  expect(() => random.int(0)).toThrow('positive integer')
  expect(() => random.pick([])).toThrow('Nothing to pick')
})
