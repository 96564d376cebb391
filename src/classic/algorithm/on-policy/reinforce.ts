import { type Activation, createAdam, createParameters } from '../../../engine/nn/index.ts'
import { createRandom } from '../../../engine/random/index.ts'
import type { HostTensor } from '../../../engine/tensor/index.ts'
import { standardise } from '../../../returns/advantages.ts'
import { type AnyVector, requireSameStep, rowSize } from '../../environment/index.ts'
import { clipActionRows, type Encoder, mlpActorCritic } from '../../policy/index.ts'
import {
  type ClassicAlgorithm,
  stateOfArray,
  stateOfFields,
  stateOfParts,
  type UpdateMetrics,
} from '../agent.ts'
import { checkSettings, endlessEpisode, longestEpisode, type WholeEpisodes } from '../check-settings.ts'
import { gradientStep } from '../gradient-step.ts'
import { overWindow } from '../wrap-algorithm.ts'
import { compilePolicyGradient } from './on-policy-agent.ts'

/** Settings of `reinforce`. */
export interface ReinforceConfig extends WholeEpisodes {
  /** Complete episodes of an update. */
  episodes: number
  /** Subtracts a learned value estimate from the return. A truncated episode is then bootstrapped with it. */
  baseline: boolean
  /** Scales the advantages of an update to mean 0 and standard deviation 1. */
  normaliseAdvantages: boolean
  learningRate: number
  gamma: number
  entropy: number
  valueWeight: number
  hidden: readonly number[]
  activation: Activation
  /** Default: `mlp`. */
  encoder?: Encoder
}

/** Our own settings, as there is no reference. `numEnvs` is the number of environments they are meant for. */
export const reinforcePresets = {
  baseline: {
    numEnvs: 8,
    episodes: 8,
    baseline: true,
    normaliseAdvantages: false,
    learningRate: 1e-2,
    gamma: 0.98,
    entropy: 0,
    valueWeight: 0.5,
    hidden: [32],
    activation: 'tanh',
  },
  plain: {
    numEnvs: 8,
    episodes: 8,
    baseline: false,
    normaliseAdvantages: true,
    learningRate: 1e-2,
    gamma: 0.98,
    entropy: 0,
    valueWeight: 0,
    hidden: [32],
    activation: 'tanh',
  },
} as const satisfies Record<string, ReinforceConfig & { numEnvs: number }>

/** The steps of one episode or of several, row after row. */
interface Steps {
  observations: number[]
  actions: number[]
  penalties: number[]
  rewards: number[]
  /** Estimated values of the observations. Zeros without a baseline. */
  values: number[]
}

const noSteps = (): Steps => ({ observations: [], actions: [], penalties: [], rewards: [], values: [] })

/** The current episodes, and the complete ones for the next update. */
interface Episodes {
  /** The current episode of each environment. */
  running: Steps[]
  batch: Steps
  /** The discounted return of each step of the batch. */
  returns: number[]
  /** Number of episodes in the batch. */
  complete: number
}

/**
 * REINFORCE (Williams 1992, doi:10.1007/BF00992696): the gradient of the log-probability of each action, weighted
 * with the discounted return until the end of the episode, minus an optional learned baseline. As is common, the
 * weight leaves out the discount of the time before the action. With several environments an episode can span an
 * update, so that its first steps come from the previous policy. One environment is exact.
 */
export const reinforce = (config: ReinforceConfig): ClassicAlgorithm =>
  overWindow(checkSettings(config).encoder, async (environment, { seed, threads = 1 }) => {
    requireSameStep(environment, 'reinforce')
    const learner = await createReinforceLearner(environment, config, { seed, threads })
    const { policy, parameters, episodes } = learner
    return {
      act: () => act(learner),
      learn() {
        recordRewards(learner)
        return episodes.complete >= config.episodes ? update(learner) : undefined
      },
      predict(observations, rows, chosen, mask) {
        policy.act(parameters, observations, rows, { actions: chosen }, undefined, mask)
        clipActionRows(environment.definition.action, chosen, rows)
      },
      ...(config.baseline
        ? {
            values: (observations: Float32Array, rows: number, to: Float32Array) =>
              policy.evaluate(parameters, observations, rows, to),
          }
        : {}),
      ...stateOfParts({
        parameters: stateOfArray(parameters.data),
        adam: learner.adam,
        random: learner.drawing,
        ...stateOfFields(episodes, ['running', 'batch', 'returns', 'complete']),
      }),
      dispose: () => learner.objective.dispose(),
    }
  })

type Learner = Awaited<ReturnType<typeof createReinforceLearner>>

async function createReinforceLearner(
  environment: AnyVector,
  config: ReinforceConfig,
  { seed, threads }: { seed: number; threads: number },
) {
  const { definition } = environment
  const numEnvs = environment.envs.count
  const policy = mlpActorCritic(definition, config)
  const random = createRandom('reinforce', seed)
  const parameters = createParameters(policy.specs, random.split('parameters'))
  const objective = await compilePolicyGradient(environment, policy, {
    name: 'reinforce',
    threads,
    entropy: config.entropy,
    valueWeight: config.baseline ? config.valueWeight : 0,
  })
  const episodes: Episodes = {
    running: Array.from({ length: numEnvs }, noSteps),
    batch: noSteps(),
    returns: [],
    complete: 0,
  }
  return {
    environment,
    config,
    policy,
    parameters,
    adam: createAdam(parameters.data.length),
    objective,
    drawing: random.split('actions'),
    episodes,
    actions: new Float32Array(numEnvs * policy.distribution.actionSize),
    values: new Float32Array(numEnvs),
    /** Lengths of an observation and of an action, and number of actions in a mask (0 without masks). */
    width: rowSize(definition.observation),
    actionSize: policy.distribution.actionSize,
    choices: environment.actionMask.length / numEnvs,
  }
}

/** Chooses actions, and records them with what they were chosen from. */
function act(learner: Learner): void {
  const { environment, config, policy, parameters, drawing, actions, values } = learner
  const { width, actionSize, choices } = learner
  const { observations, actionMask } = environment
  const numEnvs = environment.envs.count
  const to = config.baseline ? { actions, values } : { actions }
  policy.act(parameters, observations, numEnvs, to, drawing, actionMask)
  for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
    const steps = learner.episodes.running[envIndex]
    for (let k = 0; k < width; k++) steps.observations.push(observations[envIndex * width + k])
    for (let k = 0; k < actionSize; k++) steps.actions.push(actions[envIndex * actionSize + k])
    for (let k = 0; k < choices; k++)
      steps.penalties.push(actionMask[envIndex * choices + k] === 1 ? 0 : -1e9)
    steps.values.push(values[envIndex])
  }
  environment.actions.set(actions)
  clipActionRows(environment.definition.action, environment.actions, numEnvs)
}

/** Records the rewards of a step. Episodes that have ended move into the batch. */
function recordRewards(learner: Learner): void {
  const { environment, config, episodes } = learner
  const { maxEpisodeSteps = longestEpisode } = config
  for (let envIndex = 0; envIndex < environment.envs.count; envIndex++) {
    episodes.running[envIndex].rewards.push(environment.rewards[envIndex])
    const steps = episodes.running[envIndex].rewards.length
    if (environment.terminated[envIndex] === 1 || environment.truncated[envIndex] === 1)
      closeEpisode(learner, envIndex)
    else if (steps >= maxEpisodeSteps)
      throw endlessEpisode('reinforce', environment.definition.name, { envIndex, steps })
  }
}

/** Moves an episode that has ended into the batch, with its returns. */
function closeEpisode(
  { environment, config, policy, parameters, episodes, width }: Learner,
  envIndex: number,
): void {
  const steps = episodes.running[envIndex]
  let following = 0
  if (config.baseline && environment.terminated[envIndex] === 0) {
    const final = environment.finalObservations.subarray(envIndex * width, (envIndex + 1) * width)
    const value = new Float32Array(1)
    policy.evaluate(parameters, final, 1, value)
    following = value[0]
  }
  const returns = steps.rewards.slice()
  for (let t = returns.length - 1; t >= 0; t--) returns[t] = following = returns[t] + config.gamma * following
  for (const key of ['observations', 'actions', 'penalties', 'rewards', 'values'] as const)
    episodes.batch[key] = episodes.batch[key].concat(steps[key])
  episodes.returns = episodes.returns.concat(returns)
  episodes.running[envIndex] = noSteps()
  episodes.complete++
}

/** One gradient step on the batch, which is then empty. */
async function update(learner: Learner): Promise<UpdateMetrics> {
  const { config, parameters, adam, objective, episodes, width, actionSize, choices } = learner
  const { batch, returns } = episodes
  const rows = returns.length
  const tensor = (data: readonly number[], columns?: number): HostTensor => ({
    data: Float32Array.from(data),
    shape: columns === undefined ? [rows] : [rows, columns],
  })
  const advantages = Float32Array.from(returns, (value, i) => value - batch.values[i])
  const { metrics } = await gradientStep({ objective, parameters, optimiser: adam }, config.learningRate, {
    observations: tensor(batch.observations, width),
    actions: tensor(batch.actions, actionSize),
    advantages: { data: config.normaliseAdvantages ? standardise(advantages) : advantages, shape: [rows] },
    returns: tensor(returns),
    ...(choices > 0 ? { maskPenalty: tensor(batch.penalties, choices) } : {}),
  })
  Object.assign(episodes, { batch: noSteps(), returns: [], complete: 0 })
  return metrics
}
