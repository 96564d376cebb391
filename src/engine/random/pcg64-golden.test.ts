import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createPcg64 } from './pcg64.ts'
import type { Pcg64 } from './pcg64.ts'
import { exponentialTables, normalTables } from './ziggurat.ts'

interface Ziggurat {
  first: number[]
  count: number
  tail: [number, number][]
  after: number
}
interface Golden {
  seed: string
  raw: string[]
  random: number[]
  uniform: number[]
  integers: Record<string, number[]>
  bytes: Record<string, number[][]>
  normal: Ziggurat
  exponential: Ziggurat
}

/** Made by golden/make_numpy_golden.py. */
const golden = JSON.parse(readFileSync(new URL('golden/numpy.json', import.meta.url), 'utf8')) as {
  seeds: Golden[]
  mixed: number[][]
}
const draws = (count: number, draw: () => number): number[] => Array.from({ length: count }, draw)

function expectZiggurat(random: Pcg64, draw: () => number, edge: number, expected: Ziggurat): void {
  const all = draws(expected.count, draw)
  expect(all.slice(0, expected.first.length)).toEqual(expected.first)
  // Beyond the edge a logarithm decides, whose last bit is the platform's.
  const tail = all.flatMap((x, i) => (Math.abs(x) > edge ? [[i, x] as const] : []))
  expect(tail.map(([i]) => i)).toEqual(expected.tail.map(([i]) => i))
  tail.forEach(([, x], k) => expect(Math.abs(x / expected.tail[k][1] - 1)).toBeLessThan(1e-15))
  expect(random.random()).toBe(expected.after)
}

test.each(golden.seeds)('draws equal NumPy’s for seed $seed', (expected) => {
  const fresh = () => createPcg64(BigInt(expected.seed))
  const raw = fresh()
  expect(expected.raw.map(() => String(raw.next64()))).toEqual(expected.raw)
  const plain = fresh()
  expect(draws(expected.random.length, () => plain.random())).toEqual(expected.random)
  const uniform = fresh()
  expect(draws(expected.uniform.length, () => -0.05 + (0.05 - -0.05) * uniform.random())).toEqual(
    expected.uniform,
  )
  for (const [n, values] of Object.entries(expected.integers)) {
    const random = fresh()
    expect(draws(values.length, () => random.integers(0, Number(n)))).toEqual(values)
  }
  for (const [n, rows] of Object.entries(expected.bytes)) {
    for (const row of rows) {
      const out = new Uint8Array(row.length)
      fresh().fillIntegers8(Number(n), out)
      expect([...out]).toEqual(row)
    }
  }
})

test.each(golden.seeds)(
  'normal and exponential equal NumPy’s over 30,000 draws for seed $seed',
  (expected) => {
    const one = createPcg64(BigInt(expected.seed))
    expectZiggurat(one, () => one.normal(), 3.6541528853610088, expected.normal)
    const other = createPcg64(BigInt(expected.seed))
    expectZiggurat(other, () => other.exponential(), 7.69711747013105, expected.exponential)
  },
)

test('mixed kinds of draws equal NumPy’s, also after restoring a saved state', () => {
  let random = createPcg64(7)
  const small = new Int8Array(3)
  for (const row of golden.mixed) {
    const drawn = [
      random.integers(0, 10),
      random.random(),
      random.normal(),
      random.integers(0, 2 ** 40),
      random.integers(0, 6),
      random.integers(0, 7),
      random.exponential(),
    ]
    random.fillIntegers8(3, small)
    expect([...drawn, ...small]).toEqual(row)
    const state = JSON.parse(JSON.stringify(random.state())) as ReturnType<Pcg64['state']>
    random = createPcg64(0)
    random.restore(state)
  }
})

test('the tables describe strips of equal area under their densities', () => {
  for (const [{ width, height, threshold }, scale, density, edge] of [
    [normalTables, 2 ** 52, (x: number) => Math.exp((-x * x) / 2), 3.6541528853610088],
    [exponentialTables, 2 ** 53, (x: number) => Math.exp(-x), 7.69711747013105],
  ] as const) {
    expect(width[255] * scale).toBeCloseTo(edge, 12)
    const area = width[0] * scale * height[255]
    for (let k = 1; k < 256; k++) {
      const x = width[k] * scale
      expect(Math.abs(height[k] / density(x) - 1)).toBeLessThan(1e-13)
      expect(Math.abs((x * (height[k - 1] - height[k])) / area - 1)).toBeLessThan(1e-10)
      const inside = k === 1 ? 0 : width[k - 1] / width[k]
      expect(Math.abs(threshold[k] / scale - inside)).toBeLessThan(1e-14)
    }
  }
})

test('fillIntegers8 refuses a range beyond a byte', () => {
  expect(() => createPcg64(1).fillIntegers8(129, new Uint8Array(1))).toThrow('fillIntegers8')
})
