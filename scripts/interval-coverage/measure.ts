import type { Episode } from '../../src/llm/episode/types.ts'
import { compareSuccess, probabilityOfImprovement } from '../../src/llm/evaluation/episode-statistics.ts'
import {
  groupedWilsonInterval,
  stratifiedInterquartileMean,
  wilsonInterval,
  quantile,
} from '../../src/statistics/statistics.ts'
import { createRandom } from '../../src/engine/random/index.ts'
import type { Random } from '../../src/engine/random/index.ts'
import { candidateIntervals, candidates } from './candidates.ts'
import type { Candidate, Interval } from './candidates.ts'
import { distributions, interquartileMeanOf, meanOf } from './distributions.ts'
import type { DistributionName } from './distributions.ts'

/** Share of the simulations whose interval contains the true value, by kind of interval. */
export type Coverage<Name extends string> = Record<Name, number>

const resamples = 500

/** How often the intervals of `simulate` contain `truth`. */
function count<Name extends string>(
  names: readonly Name[],
  simulations: number,
  truth: number,
  simulate: () => Record<Name, Interval>,
): Coverage<Name> {
  const held = Object.fromEntries(names.map((name) => [name, 0])) as Coverage<Name>
  for (let i = 0; i < simulations; i++) {
    const found = simulate()
    // A rounding error in an interval of zero width does not count as a miss.
    for (const name of names)
      if (found[name][0] <= truth + 1e-12 && found[name][1] >= truth - 1e-12) held[name] += 1 / simulations
  }
  return held
}

const sample = (name: DistributionName, n: number, random: Random): number[] =>
  Array.from({ length: n }, () => distributions[name].draw(random))

/** Coverage of the mean of `n` draws by each candidate. */
export function meanCoverage(name: DistributionName, n: number, simulations: number): Coverage<Candidate> {
  const random = createRandom('mean', name, n)
  return count(candidates, simulations, meanOf(name), () =>
    candidateIntervals(sample(name, n, random), random),
  )
}

/** Coverage of the population's interquartile mean by the percentile bootstrap of `n` draws. */
export function interquartileCoverage(
  name: DistributionName,
  n: number,
  simulations: number,
): Coverage<'percentile'> {
  const random = createRandom('interquartile', name, n)
  return count(['percentile'], simulations, interquartileMeanOf(name), () => {
    const { low, high } = stratifiedInterquartileMean([sample(name, n, random)], {
      resamples,
      seed: random.int(2 ** 31),
    })
    return { percentile: [low ?? NaN, high ?? NaN] }
  })
}

/** Two arms of an experiment, and the probability that a run of the first beats one of the second. */
export const arms = {
  'normal, level': { a: (random) => random.normal(), b: (random) => random.normal(), truth: 0.5 },
  'normal, ahead': { a: (random) => random.normal() + 1, b: (random) => random.normal(), truth: 0.76025 },
  'normal, far ahead': { a: (random) => random.normal() + 2, b: (random) => random.normal(), truth: 0.92135 },
  'normal, apart': { a: (random) => random.normal() + 3, b: (random) => random.normal(), truth: 0.98305 },
  'unequal deviations': {
    a: (random) => 3 * random.normal() + 3,
    b: (random) => random.normal(),
    truth: 0.82861,
  },
  'with ties': {
    a: (random) => Number(random.next() < 0.8),
    b: (random) => Number(random.next() < 0.2),
    truth: 0.8,
  },
  'two modes': {
    a: (random) => 10 * Number(random.next() < 0.7) + random.normal(),
    b: (random) => 10 * Number(random.next() < 0.3) + random.normal(),
    truth: 0.7,
  },
} satisfies Record<string, { a: (random: Random) => number; b: (random: Random) => number; truth: number }>

/** Coverage of the probability of improvement with `n` runs per arm. */
export function improvementCoverage(
  name: keyof typeof arms,
  n: number,
  simulations: number,
): Coverage<'percentile' | 'Wilson'> {
  const random = createRandom('improvement', name, n)
  const { a, b, truth } = arms[name]
  return count(['percentile', 'Wilson'], simulations, truth, () => {
    const [x, y] = [Array.from({ length: n }, () => a(random)), Array.from({ length: n }, () => b(random))]
    const { low, high } = probabilityOfImprovement(x, y)
    return { percentile: percentileOfWins(x, y, random), Wilson: [low ?? NaN, high ?? NaN] }
  })
}

function percentileOfWins(x: readonly number[], y: readonly number[], random: Random): Interval {
  const table = x.map((value) => y.map((other) => (value > other ? 1 : value === other ? 0.5 : 0)))
  const draws = Float64Array.from({ length: resamples }, () => {
    const columns = y.map(() => Math.floor(random.next() * y.length))
    let sum = 0
    for (let i = 0; i < x.length; i++) {
      const row = table[Math.floor(random.next() * x.length)]
      for (const j of columns) sum += row[j]
    }
    return sum / (x.length * y.length)
  }).sort()
  return [quantile(draws, 0.025), quantile(draws, 0.975)]
}

interface Policies {
  chances: (random: Random) => [a: number, b: number]
  gain: number
  /** Of the second arm. */
  success: number
}

/** Two policies on randomly drawn tasks: the success probability of each on a task. */
export const policies = {
  'the same policy twice': {
    chances: (random) => {
      const chance = random.next()
      return [chance, chance]
    },
    gain: 0,
    success: 0.5,
  },
  'one better by 10 points': {
    chances: (random) => {
      const chance = 0.9 * random.next()
      return [chance + 0.1, chance]
    },
    gain: 0.1,
    success: 0.45,
  },
  'one perfect, one at 90%': { chances: () => [1, 0.9], gain: 0.1, success: 0.9 },
} satisfies Record<string, Policies>

type Played = { task: string; successes: number; trials: number }[]

/**
 * Coverage of the difference between two policies, and of the success of the second, over `tasks` drawn tasks with `attempts`
 * each: with Agoge's intervals, and with intervals that treat all episodes as independent.
 */
export function successCoverage(
  name: keyof typeof policies,
  tasks: number,
  attempts: number,
  simulations: number,
): Coverage<'gain' | 'success' | 'success of episodes'> {
  const random = createRandom('success', name, tasks, attempts)
  const { chances, gain, success: truth }: Policies = policies[name]
  const play = (task: number, chance: number): Played[number] => ({
    task: String(task),
    successes: Array.from({ length: attempts }, () => random.next() < chance).filter(Boolean).length,
    trials: attempts,
  })
  return count(['gain', 'success', 'success of episodes'], simulations, 0, () => {
    const both = Array.from({ length: tasks }, (_, task) =>
      chances(random).map((chance) => play(task, chance)),
    )
    const [a, b] = [both.map(([first]) => first), both.map(([, second]) => second)]
    const found = compareSuccess(episodesOf(a), episodesOf(b))
    const successes = b.reduce((sum, task) => sum + task.successes, 0)
    const shifted = ({ low, high }: { low: number; high: number }): Interval => [low - truth, high - truth]
    return {
      gain: [(found.low ?? NaN) - gain, (found.high ?? NaN) - gain],
      success: shifted(groupedWilsonInterval(b)),
      'success of episodes': shifted(wilsonInterval(successes, tasks * attempts)),
    }
  })
}

/** The fields that `compareSuccess` reads. */
const episodesOf = (played: Played): Episode[] =>
  played.flatMap(({ task, successes, trials }) =>
    Array.from({ length: trials }, (_, i) => ({ task, status: 'ok', success: i < successes }) as Episode),
  )
