import { expect, test } from 'vitest'
import { createRandom } from 'agoge/engine'
import { each } from '../each.ts'
import { benchmark, handMade, homogeneity, options } from './graph-networks.ts'
import type { Architecture } from './graph-networks.ts'

/** A layer: aggregator none, activation, width 2, and combination. */
const layer = (activation: number, combination: number): number[] => [3, activation, 0, combination]
const random = createRandom('architectures', 1)
const drawn = each(12).map(() => options.map((count) => random.int(count)))
const { train, test: tested } = benchmark(1)
const both = (architecture: Architecture) => [train(architecture, 30), tested(architecture, 30)]

test('without an aggregator, adding and subtracting are the same, and so are neighbours and products', () => {
  const of = (...combinations: number[]) => both([...combinations.flatMap((c) => layer(1, c)), 0])
  expect(of(1, 1)).toEqual(of(0, 0))
  expect(of(0, 1)).toEqual(of(0, 0))
  expect(of(3, 2)).toEqual(of(2, 3))
  expect(of(0, 0)).not.toEqual(of(2, 2))
})

test('a network that nothing of a graph passes is right about half of the graphs, whatever reads it', () => {
  const blind = (activation: number, readout: number) =>
    both([...layer(activation, 2), ...layer(activation, 2), readout])
  expect(Math.abs(tested([...layer(0, 2), ...layer(0, 2), 0], 30) - 0.5)).toBeLessThan(0.1)
  // Nothing is below 0 there, so a rectifier is linear; all nodes are alike, so their mean is their maximum.
  expect(blind(3, 0)).toEqual(blind(0, 0))
  expect(blind(0, 1)).toEqual(blind(0, 0))
})

test('the best of some networks has learned, by graphs for validation and by others', () => {
  const found = drawn.map((architecture) => train(architecture, 30).validation)
  const best = Math.max(...found)
  expect(best).toBeGreaterThan(0.65)
  expect(tested(drawn[found.indexOf(best)], 30)).toBeGreaterThan(0.65)
})

test('no step leaves the readout where it starts, and steps go on from a readout that is given', () => {
  expect(train(handMade, 0).readout.every((v) => v === 0)).toBe(true)
  const { readout, validation } = train(handMade, 30)
  expect(train(handMade, 0, readout)).toEqual({ readout, validation })
  expect(train(handMade, 1, readout).readout).not.toEqual(readout)
})

test('homogeneous architectures differ in neither widths nor activations', () => {
  options.forEach((count, component) => {
    const other = handMade.with(component, (handMade[component] + 1) % count)
    const shares = component === 8 || component % 4 === 0 || component % 4 === 3
    expect(homogeneity(other) === homogeneity(handMade)).toBe(shares)
  })
})

test('the same seed gives the same graphs and labels, another one others', () => {
  expect(benchmark(1).train(drawn[1], 30)).toEqual(train(drawn[1], 30))
  expect(benchmark(2).train(drawn[1], 30)).not.toEqual(train(drawn[1], 30))
})
