import { type AdamState, createAdam } from '../../../engine/nn/index.ts'
import type { Random, RandomState } from '../../../engine/random/index.ts'
import type { UpdateMetrics } from '../agent.ts'

/** Searches for the parameters of highest fitness, given only the fitness of candidates. */
export interface EvolutionStrategy {
  /** Candidates of a generation. */
  readonly population: number
  /** Writes candidates [population, parameters]. */
  ask(candidates: Float32Array): void
  /** Takes the fitness of the candidates of the last `ask`. Higher is better. */
  tell(fitness: Float64Array): UpdateMetrics
  /** The current best estimate of the parameters. */
  mean(): Float32Array
  state(): unknown
  restore(state: unknown): void
}

export interface OpenAiEsOptions {
  /** Standard deviation of the noise on every parameter. */
  sigma: number
  learningRate: number
  /** Weight decay: adds -weightDecay times the parameters to the gradient. */
  weightDecay: number
  /** Candidates of a generation. Even, because they come in pairs. */
  population: number
}

/** The rank of each value, scaled to -0.5 ... 0.5. Equal values rank in their order. */
export function centredRanks(values: Float64Array): Float64Array {
  const order = Array.from(values.keys()).sort((a, b) => values[a] - values[b])
  const ranks = new Float64Array(values.length)
  order.forEach((index, rank) => (ranks[index] = rank / (values.length - 1) - 0.5))
  return ranks
}

/**
 * OpenAI's evolution strategy (Salimans et al. 2017, arXiv:1703.03864): normal noise in antithetic pairs, fitness
 * as centred ranks, and Adam on the estimated gradient.
 */
export function openAiEsStrategy(
  start: Float32Array,
  { sigma, learningRate, weightDecay, population }: OpenAiEsOptions,
  random: Random,
): EvolutionStrategy {
  const n = start.length
  const pairs = Math.floor(population / 2)
  const mean = start.slice()
  const noise = new Float32Array(pairs * n)
  const gradient = new Float32Array(n)
  const adam = createAdam(n)
  return {
    population: 2 * pairs,
    mean: () => mean.slice(),
    ask(candidates) {
      for (let i = 0; i < noise.length; i++) noise[i] = random.normal()
      for (let pair = 0; pair < pairs; pair++) {
        for (let i = 0; i < n; i++) {
          const change = sigma * noise[pair * n + i]
          candidates[2 * pair * n + i] = mean[i] + change
          candidates[(2 * pair + 1) * n + i] = mean[i] - change
        }
      }
    },
    tell(fitness) {
      const ranks = centredRanks(fitness)
      // Adam descends, so this is the negated gradient.
      for (let i = 0; i < n; i++) gradient[i] = weightDecay * mean[i]
      for (let pair = 0; pair < pairs; pair++) {
        const weight = (ranks[2 * pair] - ranks[2 * pair + 1]) / (2 * pairs * sigma)
        for (let i = 0; i < n; i++) gradient[i] -= weight * noise[pair * n + i]
      }
      return { gradientNorm: adam.step(mean, gradient, learningRate) }
    },
    state: () => ({ mean: mean.slice(), noise: noise.slice(), adam: adam.state(), random: random.state() }),
    restore(saved) {
      const state = saved as { mean: Float32Array; noise: Float32Array; adam: AdamState; random: RandomState }
      mean.set(state.mean)
      noise.set(state.noise)
      adam.restore(state.adam)
      random.restore(state.random)
    },
  }
}
