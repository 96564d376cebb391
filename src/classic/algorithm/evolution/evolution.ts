import { type Activation, createParameters, zeroParameters } from '../../../engine/nn/index.ts'
import { createRandom, type Random } from '../../../engine/random/index.ts'
import { AgogeError } from '../../../error.ts'
import { type AnyVector, requireSameStep, rowSize } from '../../environment/index.ts'
import {
  clipActionRows,
  distributionFor,
  type Encoder,
  mlpNetwork,
  overObservations,
} from '../../policy/index.ts'
import {
  type ClassicAgent,
  type ClassicAlgorithm,
  stateOfArray,
  stateOfParts,
  stateOfValue,
} from '../agent.ts'
import { checkSettings, endlessEpisode, longestEpisode, type WholeEpisodes } from '../check-settings.ts'
import { overWindow } from '../wrap-algorithm.ts'
import { cmaEsStrategy } from './cma-es.ts'
import { type EvolutionStrategy, openAiEsStrategy } from './openai-es.ts'

interface PolicyShape extends WholeEpisodes {
  /** Empty for a linear policy. */
  hidden: readonly number[]
  activation: Activation
  /** Default `mlp`. */
  encoder?: Encoder
}

export interface OpenAiEsConfig extends PolicyShape {
  sigma: number
  learningRate: number
  weightDecay: number
}

export interface CmaEsConfig extends PolicyShape {
  sigma: number
}

/** Settings of our own, for linear policies. `numEnvs` is the size of the population. */
export const openAiEsPresets = {
  linear: { numEnvs: 16, sigma: 0.2, learningRate: 0.1, weightDecay: 0, hidden: [], activation: 'tanh' },
} as const satisfies Record<string, OpenAiEsConfig & { numEnvs: number }>

export const cmaEsPresets = {
  linear: { numEnvs: 16, sigma: 0.5, hidden: [], activation: 'tanh' },
} as const satisfies Record<string, CmaEsConfig & { numEnvs: number }>

type MakeStrategy = (start: Float32Array, population: number, random: Random) => EvolutionStrategy

/**
 * OpenAI's evolution strategy over the weights of a deterministic policy (Salimans et al. 2017, arXiv:1703.03864). Every
 * environment is a candidate: the environment needs an even number of them, at least 4. A generation is one episode each.
 */
export const openAiEs = (config: OpenAiEsConfig): ClassicAlgorithm =>
  overWindow(checkSettings(config).encoder, async (environment, { seed }) =>
    evolve(environment, 'openai-es', seed, config, (start, population, random) =>
      openAiEsStrategy(start, { ...config, population }, random),
    ),
  )

/**
 * CMA-ES (Hansen 2016, arXiv:1604.00772) over the weights of a deterministic policy, which should be small, such as a
 * linear one. Every environment is a candidate, at least 4.
 */
export const cmaEs = (config: CmaEsConfig): ClassicAlgorithm =>
  overWindow(checkSettings(config).encoder, async (environment, { seed }) =>
    evolve(environment, 'cma-es', seed, config, (start, population, random) =>
      cmaEsStrategy(start, { ...config, population }, random),
    ),
  )

/** Plays an episode with each candidate, in an environment of its own, and tells the strategy what they returned. */
function evolve(
  environment: AnyVector,
  name: string,
  seed: number,
  shape: PolicyShape,
  makeStrategy: MakeStrategy,
): ClassicAgent {
  const { definition } = environment
  requireSameStep(environment, name)
  const numEnvs = environment.envs.count
  const { maxEpisodeSteps = longestEpisode } = shape
  const distribution = distributionFor(definition)
  const isBox = definition.action.type === 'box'
  const network = overObservations(
    definition.observation,
    (inputs) =>
      mlpNetwork({
        ...shape,
        inputs,
        outputs: isBox ? distribution.actionSize : distribution.parameters,
        outputGain: 0.01,
      }),
    shape,
  )
  const random = createRandom(name, seed)
  const start = createParameters(network.specs, random.split('parameters'))
  const strategy = makeStrategy(start.data, numEnvs, random.split('noise'))
  if (numEnvs < 4 || strategy.population !== numEnvs) {
    throw new AgogeError(`${name} plays each candidate in an environment of its own`, {
      code: 'bad-argument',
      given: `${numEnvs} environments`,
      expected: 'an even number of environments, at least 4',
      hint: 'make the vector environment with as many environments as the population shall have',
    })
  }
  const candidates = new Float32Array(numEnvs * start.data.length)
  const one = zeroParameters(start.shapes)
  const best = zeroParameters(start.shapes)
  best.data.set(start.data)
  /** What the candidate's episode has paid so far, as the learner sees it: wrappers and bonuses included. */
  const fitness = new Float64Array(numEnvs)
  /** 1 where the candidate's episode is over. */
  const over = new Uint8Array(numEnvs)
  let fresh = true
  const parametersOut = new Float32Array(network.outputs)
  const width = rowSize(definition.observation)
  const choices = environment.actionMask.length / numEnvs

  function choose(
    weights: typeof one,
    observation: Float32Array,
    action: Float32Array,
    mask?: Uint8Array,
  ): void {
    network.forward(weights, observation, 1, parametersOut)
    if (isBox) action.set(parametersOut)
    else distribution.draw(parametersOut, 0, action, undefined, mask)
  }
  const rowsOf = (
    rows: number,
    from: Float32Array,
    to: Float32Array,
    mask: Uint8Array | undefined,
    weights: (r: number) => typeof one,
  ): void => {
    const size = distribution.actionSize
    for (let r = 0; r < rows; r++) {
      const allowed = choices > 0 ? mask?.subarray(r * choices, (r + 1) * choices) : undefined
      choose(
        weights(r),
        from.subarray(r * width, (r + 1) * width),
        to.subarray(r * size, (r + 1) * size),
        allowed,
      )
    }
    clipActionRows(definition.action, to, rows)
  }

  function chooseAll(): void {
    rowsOf(numEnvs, environment.observations, environment.actions, environment.actionMask, (r) => {
      one.data.set(candidates.subarray(r * one.data.length, (r + 1) * one.data.length))
      return one
    })
  }

  return {
    act() {
      if (!fresh) return chooseAll()
      // candidates that were done early have played on; every generation starts with new episodes
      const resetting = environment.reset()
      strategy.ask(candidates)
      over.fill(0)
      fitness.fill(0)
      fresh = false
      return resetting instanceof Promise ? resetting.then(chooseAll) : chooseAll()
    },
    learn() {
      for (let i = 0; i < numEnvs; i++) {
        if (over[i] === 1) continue
        fitness[i] += environment.rewards[i]
        if (environment.terminated[i] === 1 || environment.truncated[i] === 1) over[i] = 1
        else if (environment.lengths[i] >= maxEpisodeSteps)
          throw endlessEpisode(name, definition.name, { envIndex: i, steps: environment.lengths[i] })
      }
      if (over.includes(0)) return undefined
      const metrics = strategy.tell(fitness)
      best.data.set(strategy.mean())
      fresh = true
      return {
        ...metrics,
        fitness: fitness.reduce((a, b) => a + b, 0) / numEnvs,
        fittest: Math.max(...fitness),
      }
    },
    predict: (observations, rows, actions, mask) => rowsOf(rows, observations, actions, mask, () => best),
    ...stateOfParts({
      strategy,
      candidates: stateOfArray(candidates),
      fitness: stateOfArray(fitness),
      over: stateOfArray(over),
      best: stateOfArray(best.data),
      fresh: stateOfValue(
        () => fresh,
        (value) => (fresh = value),
      ),
    }),
    dispose: () => Promise.resolve(),
  }
}
