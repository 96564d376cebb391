import {
  type Activation,
  createParameters,
  type ParameterSet,
  zeroParameters,
} from '../../../engine/nn/index.ts'
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
  stateOfFields,
  stateOfParts,
} from '../agent.ts'
import { checkSettings, endlessEpisode, longestEpisode, type WholeEpisodes } from '../check-settings.ts'
import { overWindow } from '../wrap-algorithm.ts'
import { cmaEsStrategy } from './cma-es.ts'
import { type EvolutionStrategy, openAiEsStrategy } from './openai-es.ts'

interface PolicyShape extends WholeEpisodes {
  /** Sizes of the hidden layers. Empty for a linear policy. */
  hidden: readonly number[]
  activation: Activation
  /** Default: `mlp`. */
  encoder?: Encoder
}

/** Settings of `openAiEs`. */
export interface OpenAiEsConfig extends PolicyShape {
  sigma: number
  learningRate: number
  weightDecay: number
}

/** Settings of `cmaEs`. */
export interface CmaEsConfig extends PolicyShape {
  sigma: number
}

/** Our own settings, for linear policies. `numEnvs` is the size of the population. */
export const openAiEsPresets = {
  linear: { numEnvs: 16, sigma: 0.2, learningRate: 0.1, weightDecay: 0, hidden: [], activation: 'tanh' },
} as const satisfies Record<string, OpenAiEsConfig & { numEnvs: number }>

/** Our own settings, for linear policies. `numEnvs` is the size of the population. */
export const cmaEsPresets = {
  linear: { numEnvs: 16, sigma: 0.5, hidden: [], activation: 'tanh' },
} as const satisfies Record<string, CmaEsConfig & { numEnvs: number }>

type MakeStrategy = (start: Float32Array, population: number, random: Random) => EvolutionStrategy

/**
 * OpenAI's evolution strategy over the weights of a deterministic policy (Salimans et al. 2017, arXiv:1703.03864).
 * Each environment plays one candidate, one episode per generation. Needs an even number of environments, at least
 * 4.
 */
export const openAiEs = (config: OpenAiEsConfig): ClassicAlgorithm =>
  overWindow(checkSettings(config).encoder, async (environment, { seed }) =>
    evolve(environment, 'openai-es', seed, config, (start, population, random) =>
      openAiEsStrategy(start, { ...config, population }, random),
    ),
  )

/**
 * CMA-ES (Hansen 2016, arXiv:1604.00772) over the weights of a small deterministic policy, for example a linear
 * one. Each environment plays one candidate, one episode per generation. Needs an even number of environments, at
 * least 4.
 */
export const cmaEs = (config: CmaEsConfig): ClassicAlgorithm =>
  overWindow(checkSettings(config).encoder, async (environment, { seed }) =>
    evolve(environment, 'cma-es', seed, config, (start, population, random) =>
      cmaEsStrategy(start, { ...config, population }, random),
    ),
  )

/** Plays an episode with each candidate, each in its own environment, and passes the returns to the strategy. */
function evolve(
  environment: AnyVector,
  name: string,
  seed: number,
  shape: PolicyShape,
  makeStrategy: MakeStrategy,
): ClassicAgent {
  requireSameStep(environment, name)
  const numEnvs = environment.envs.count
  const { maxEpisodeSteps = longestEpisode } = shape
  const policy = deterministicPolicy(environment, shape)
  const random = createRandom(name, seed)
  const start = createParameters(policy.specs, random.split('parameters'))
  const strategy = makeStrategy(start.data, numEnvs, random.split('noise'))
  requirePopulation(name, numEnvs, strategy)
  const candidates = new Float32Array(numEnvs * start.data.length)
  const one = zeroParameters(start.shapes)
  const best = zeroParameters(start.shapes)
  best.data.set(start.data)
  const generation: Generation = {
    fitness: new Float64Array(numEnvs),
    over: new Uint8Array(numEnvs),
    fresh: true,
  }

  function chooseAll(): void {
    const { observations, actions, actionMask } = environment
    policy.act(observations, numEnvs, actions, actionMask, (r) => {
      one.data.set(candidates.subarray(r * one.data.length, (r + 1) * one.data.length))
      return one
    })
  }

  return {
    act() {
      if (!generation.fresh) return chooseAll()
      // Candidates whose episode ended early have played on. Every generation starts with new episodes.
      const resetting = environment.reset()
      strategy.ask(candidates)
      generation.over.fill(0)
      generation.fitness.fill(0)
      generation.fresh = false
      return resetting instanceof Promise ? resetting.then(chooseAll) : chooseAll()
    },
    learn() {
      addRewards(environment, generation, { name, maxEpisodeSteps })
      if (generation.over.includes(0)) return undefined
      const { fitness } = generation
      const metrics = strategy.tell(fitness)
      best.data.set(strategy.mean())
      generation.fresh = true
      return {
        ...metrics,
        fitness: fitness.reduce((a, b) => a + b, 0) / numEnvs,
        fittest: Math.max(...fitness),
      }
    },
    predict: (observations, rows, actions, mask) => policy.act(observations, rows, actions, mask, () => best),
    ...stateOfParts({
      strategy,
      candidates: stateOfArray(candidates),
      fitness: stateOfArray(generation.fitness),
      over: stateOfArray(generation.over),
      best: stateOfArray(best.data),
      ...stateOfFields(generation, ['fresh']),
    }),
    dispose: () => Promise.resolve(),
  }
}

/** The progress of the candidates of a generation. */
interface Generation {
  /** The return of each candidate's episode so far, as the learner sees it: with wrappers and bonuses. */
  readonly fitness: Float64Array
  /** 1 where the candidate's episode has ended. */
  readonly over: Uint8Array
  /** True if the next `act` starts a new generation. */
  fresh: boolean
}

function addRewards(
  environment: AnyVector,
  { fitness, over }: Generation,
  { name, maxEpisodeSteps }: { name: string; maxEpisodeSteps: number },
): void {
  for (let i = 0; i < environment.envs.count; i++) {
    if (over[i] === 1) continue
    fitness[i] += environment.rewards[i]
    if (environment.terminated[i] === 1 || environment.truncated[i] === 1) over[i] = 1
    else if (environment.lengths[i] >= maxEpisodeSteps)
      throw endlessEpisode(name, environment.definition.name, { envIndex: i, steps: environment.lengths[i] })
  }
}

function requirePopulation(name: string, numEnvs: number, strategy: EvolutionStrategy): void {
  if (numEnvs >= 4 && strategy.population === numEnvs) return
  throw new AgogeError(`${name} plays each candidate in an environment of its own`, {
    code: 'bad-argument',
    given: `${numEnvs} environments`,
    expected: 'an even number of environments, at least 4',
    hint: 'give the vector environment as many environments as the population has candidates',
  })
}

/** A deterministic policy: the most likely choice, or for boxes the outputs of the network. */
function deterministicPolicy({ definition, actionMask, envs }: AnyVector, shape: PolicyShape) {
  const distribution = distributionFor(definition)
  const isBox = definition.action.type === 'box'
  const outputs = isBox ? distribution.actionSize : distribution.parameters
  const network = overObservations(
    definition.observation,
    (inputs) => mlpNetwork({ ...shape, inputs, outputs, outputGain: 0.01 }),
    shape,
  )
  const output = new Float32Array(network.outputs)
  const width = rowSize(definition.observation)
  const size = distribution.actionSize
  const choices = actionMask.length / envs.count
  return {
    specs: network.specs,
    /** Writes the actions of rows of observations, each with its own weights. */
    act(
      observations: Float32Array,
      rows: number,
      actions: Float32Array,
      mask: Uint8Array | undefined,
      weightsOf: (row: number) => ParameterSet,
    ): void {
      for (let r = 0; r < rows; r++) {
        const allowed = choices > 0 ? mask?.subarray(r * choices, (r + 1) * choices) : undefined
        const action = actions.subarray(r * size, (r + 1) * size)
        network.forward(weightsOf(r), observations.subarray(r * width, (r + 1) * width), 1, output)
        if (isBox) action.set(output)
        else distribution.draw(output, 0, action, undefined, allowed)
      }
      clipActionRows(definition.action, actions, rows)
    },
  }
}
