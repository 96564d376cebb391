import { interquartileMean, average } from '../../src/statistics/statistics.ts'
import { createRandom } from '../../src/engine/random/index.ts'
import type { Random } from '../../src/engine/random/index.ts'

export interface Distribution {
  about: string
  draw: (random: Random) => number
  /** Default: estimated from many draws. */
  mean?: number
}

const exponential = (random: Random): number => -Math.log(1 - random.next())

/** Typical distributions of the scores of runs, episodes and tasks. */
export const distributions = {
  normal: { about: 'normal', draw: (random) => random.normal(), mean: 0 },
  uniform: { about: 'uniform, bounded', draw: (random) => random.next(), mean: 0.5 },
  arcsine: {
    about: 'bounded, most of it near both ends',
    draw: (random) => Math.sin((Math.PI * random.next()) / 2) ** 2,
    mean: 0.5,
  },
  capped: {
    about: 'normal around 450 with deviation 100, cut at 500 as returns of CartPole are',
    draw: (random) => Math.min(500, 450 + 100 * random.normal()),
  },
  exponential: { about: 'exponential', draw: exponential, mean: 1 },
  'lognormal 0.5': {
    about: 'lognormal, deviation 0.5 of the logarithm',
    draw: (random) => Math.exp(random.normal() / 2),
    mean: Math.exp(1 / 8),
  },
  'lognormal 1': {
    about: 'lognormal, deviation 1: very skewed',
    draw: (random) => Math.exp(random.normal()),
    mean: Math.exp(1 / 2),
  },
  laplace: {
    about: 'heavy tails',
    draw: (random) => exponential(random) - exponential(random),
    mean: 0,
  },
  'student 3': {
    about: "Student's with 3 degrees of freedom, heavier tails",
    draw: (random) =>
      random.normal() / Math.sqrt((random.normal() ** 2 + random.normal() ** 2 + random.normal() ** 2) / 3),
    mean: 0,
  },
  'bernoulli 0.5': {
    about: 'success in half of the cases',
    draw: (random) => Number(random.next() < 0.5),
    mean: 0.5,
  },
  'bernoulli 0.2': { about: 'success in a fifth', draw: (random) => Number(random.next() < 0.2), mean: 0.2 },
  'rare failure': {
    about: '500, but for a tenth of the cases that lie anywhere below',
    draw: (random) => (random.next() < 0.1 ? 500 * random.next() : 500),
    mean: 475,
  },
} satisfies Record<string, Distribution>

export type DistributionName = keyof typeof distributions

/** The true mean, from half a million draws if there is no formula. */
export function meanOf(name: DistributionName): number {
  const distribution: Distribution = distributions[name]
  return distribution.mean ?? average(manyOf(name, 500_000))
}

/** The interquartile mean of the distribution, from enough draws for an error of about a thousandth of its deviation. */
export function interquartileMeanOf(name: DistributionName): number {
  return interquartileMean(manyOf(name, 300_000))
}

function manyOf(name: DistributionName, count: number): number[] {
  const random = createRandom('population', name)
  return Array.from({ length: count }, () => distributions[name].draw(random))
}
