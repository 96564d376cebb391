import { expect, test } from 'vitest'
import { createRandom } from 'agoge/engine'
import { each } from '../each.ts'
import { benchmark, options } from './graph-networks.ts'

/** A layer: aggregator none, activation, width 2, and combination. */
const layer = (activation: number, combination: number): number[] => [3, activation, 0, combination]
const random = createRandom('architectures', 1)
const drawn = each(6).map(() => options.map((count) => random.int(count)))
const { evaluate, known } = benchmark(1)

test('without an aggregator, adding and subtracting are the same, and so are neighbours and products', () => {
  const of = (...combinations: number[]) => evaluate([...combinations.flatMap((c) => layer(1, c)), 0])
  expect(of(1, 1)).toEqual(of(0, 0))
  expect(of(0, 1)).toEqual(of(0, 0))
  expect(of(3, 2)).toEqual(of(2, 3))
  expect(of(0, 0)).not.toEqual(of(2, 2))
})

test('a network that nothing of a graph passes is right about half of the graphs, whatever reads it', () => {
  const blind = (activation: number, readout: number) =>
    evaluate([...layer(activation, 2), ...layer(activation, 2), readout])
  const { validation, test: tested } = blind(0, 0)
  expect(Math.abs((validation + tested) / 2 - 0.5)).toBeLessThan(0.1)
  // Nothing is below 0 there, so a rectifier is linear; all nodes are alike, so their mean is their maximum.
  expect(blind(3, 0)).toEqual(blind(0, 0))
  expect(blind(0, 1)).toEqual(blind(0, 0))
})

test('the best of some networks has learned, and each is trained once', () => {
  const found = drawn.map(evaluate)
  expect(Math.max(...found.map(({ validation }) => validation))).toBeGreaterThan(0.65)
  const count = known.size
  expect(evaluate(drawn[0])).toBe(found[0])
  expect(known.size).toBe(count)
})

test('the same seed gives the same graphs and labels, another one others', () => {
  expect(benchmark(1).evaluate(drawn[1])).toEqual(evaluate(drawn[1]))
  expect(benchmark(2).evaluate(drawn[1])).not.toEqual(evaluate(drawn[1]))
})
