import { requireSameStep, rowSize } from '../../environment/index.ts'
import type { AnyVector } from '../../environment/index.ts'
import { AgogeError } from '../../error.ts'
import { createParameters, zeroParameters } from '../../nn/index.ts'
import type { Activation } from '../../nn/index.ts'
import { clipActionRows, distributionFor, mlpNetwork, overObservations } from '../../policy/index.ts'
import type { Body } from '../../policy/index.ts'
import { createRandom } from '../../random/index.ts'
import type { Random } from '../../random/index.ts'
import type { ArrayAgent, ArrayAlgorithm } from './agent.ts'
import { checkSettings } from './check-settings.ts'
import { cmaEsStrategy } from './cma-es.ts'
import { endlessEpisode, longestEpisode } from './endless-episode.ts'
import type { WholeEpisodes } from './endless-episode.ts'
import { openAiEsStrategy } from './evolution-strategy.ts'
import type { EvolutionStrategy } from './evolution-strategy.ts'
import { keptArray, keptParts, keptValue } from './kept.ts'
import { overWindow } from './over-window.ts'

interface PolicyShape extends WholeEpisodes {
  /** Empty for a linear policy. */
  hidden: readonly number[]
  activation: Activation
  /** Default `mlp`. */
  body?: Body
}

export interface OpenAiEsConfig extends PolicyShape {
  sigma: number
  learningRate: number
  weightDecay: number
}

export interface CmaEsConfig extends PolicyShape {
  sigma: number
}

/** Settings of our own, for linear policies. `slots` is the size of the population. */
export const openAiEsPresets = {
  linear: { slots: 16, sigma: 0.2, learningRate: 0.1, weightDecay: 0, hidden: [], activation: 'tanh' },
} as const satisfies Record<string, OpenAiEsConfig & { slots: number }>

export const cmaEsPresets = {
  linear: { slots: 16, sigma: 0.5, hidden: [], activation: 'tanh' },
} as const satisfies Record<string, CmaEsConfig & { slots: number }>

type MakeStrategy = (start: Float32Array, population: number, random: Random) => EvolutionStrategy

/**
 * OpenAI's evolution strategy over the weights of a deterministic policy (Salimans et al. 2017, arXiv:1703.03864). Every
 * slot is a candidate: the environment needs an even number of them, at least 4. A generation is one episode each.
 */
export const openAiEs = (config: OpenAiEsConfig): ArrayAlgorithm =>
  overWindow(checkSettings(config).body, async (environment, { seed }) =>
    evolve(environment, 'openai-es', seed, config, (start, population, random) =>
      openAiEsStrategy(start, { ...config, population }, random),
    ),
  )

/**
 * CMA-ES (Hansen 2016, arXiv:1604.00772) over the weights of a deterministic policy, which should be small, such as a
 * linear one. Every slot is a candidate, at least 4.
 */
export const cmaEs = (config: CmaEsConfig): ArrayAlgorithm =>
  overWindow(checkSettings(config).body, async (environment, { seed }) =>
    evolve(environment, 'cma-es', seed, config, (start, population, random) =>
      cmaEsStrategy(start, { ...config, population }, random),
    ),
  )

/** Plays an episode with each candidate, in a slot of its own, and tells the strategy what they returned. */
function evolve(
  environment: AnyVector,
  name: string,
  seed: number,
  shape: PolicyShape,
  makeStrategy: MakeStrategy,
): ArrayAgent {
  const { world } = environment
  requireSameStep(environment, name)
  const slots = environment.slots.count
  const { maxEpisodeSteps = longestEpisode } = shape
  const distribution = distributionFor(world)
  const isBox = world.action.type === 'box'
  const network = overObservations(
    world.observation,
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
  const strategy = makeStrategy(start.data, slots, random.split('noise'))
  if (slots < 4 || strategy.population !== slots) {
    throw new AgogeError(`${name} plays each candidate in a slot of its own`, {
      code: 'bad-argument',
      given: `${slots} slots`,
      expected: 'an even number of slots, at least 4',
      hint: 'make the vector environment with as many slots as the population shall have',
    })
  }
  const candidates = new Float32Array(slots * start.data.length)
  const one = zeroParameters(start.shapes)
  const best = zeroParameters(start.shapes)
  best.data.set(start.data)
  /** What the candidate's episode has paid so far, as the learner sees it: wrappers and bonuses included. */
  const fitness = new Float64Array(slots)
  /** 1 where the candidate's episode is over. */
  const over = new Uint8Array(slots)
  let fresh = true
  const parametersOut = new Float32Array(network.outputs)
  const width = rowSize(world.observation)
  const choices = environment.actionMask.length / slots

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
    clipActionRows(world.action, to, rows)
  }

  function chooseAll(): void {
    rowsOf(slots, environment.observations, environment.actions, environment.actionMask, (r) => {
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
      for (let i = 0; i < slots; i++) {
        if (over[i] === 1) continue
        fitness[i] += environment.rewards[i]
        if (environment.terminated[i] === 1 || environment.truncated[i] === 1) over[i] = 1
        else if (environment.lengths[i] >= maxEpisodeSteps)
          throw endlessEpisode(name, world.name, { slot: i, steps: environment.lengths[i] })
      }
      if (over.includes(0)) return undefined
      const figures = strategy.tell(fitness)
      best.data.set(strategy.mean())
      fresh = true
      return {
        ...figures,
        fitness: fitness.reduce((a, b) => a + b, 0) / slots,
        fittest: Math.max(...fitness),
      }
    },
    decide: (observations, rows, actions, mask) => rowsOf(rows, observations, actions, mask, () => best),
    ...keptParts({
      strategy,
      candidates: keptArray(candidates),
      fitness: keptArray(fitness),
      over: keptArray(over),
      best: keptArray(best.data),
      fresh: keptValue(
        () => fresh,
        (value) => (fresh = value),
      ),
    }),
    dispose: () => Promise.resolve(),
  }
}
