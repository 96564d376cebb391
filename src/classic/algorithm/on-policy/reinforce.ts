import { type Activation, createAdam, createParameters } from '../../../engine/nn/index.ts'
import { createRandom } from '../../../engine/random/index.ts'
import type { HostTensor } from '../../../engine/tensor/index.ts'
import { standardise } from '../../../returns/whiten.ts'
import { requireSameStep, rowSize } from '../../environment/index.ts'
import { clipActionRows, type Encoder, mlpActorCritic } from '../../policy/index.ts'
import { type ClassicAlgorithm, stateOfArray, stateOfParts, stateOfValue } from '../agent.ts'
import { checkSettings, endlessEpisode, longestEpisode, type WholeEpisodes } from '../check-settings.ts'
import { gradientStep } from '../gradient-step.ts'
import { overWindow } from '../wrap-algorithm.ts'
import { compilePolicyGradient } from './on-policy-agent.ts'

export interface ReinforceConfig extends WholeEpisodes {
  /** Complete episodes of an update. */
  episodes: number
  /** Subtract a learned estimate of the value from the return; a truncated episode is then bootstrapped with it. */
  baseline: boolean
  /** Bring the advantages of an update to mean 0 and deviation 1. */
  normaliseAdvantages: boolean
  learningRate: number
  gamma: number
  entropy: number
  valueWeight: number
  hidden: readonly number[]
  activation: Activation
  /** Default `mlp`. */
  encoder?: Encoder
}

/** Settings of our own, as there is no reference. `numEnvs` is how many environments they are meant for. */
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

/** The steps of an episode so far, or of several with their returns; rows one after another. */
interface Steps {
  observations: number[]
  actions: number[]
  penalties: number[]
  rewards: number[]
  /** Estimated value of the observations; zeros without a baseline. */
  values: number[]
}

const noSteps = (): Steps => ({ observations: [], actions: [], penalties: [], rewards: [], values: [] })

/**
 * REINFORCE (Williams 1992, doi:10.1007/BF00992696): the gradient of the log-probability of each action, weighted with
 * the discounted return from there to the end of its episode, less a learned baseline where wanted. As is common, the
 * weight leaves out the discount of the time before the action. With several environments an episode may reach over an
 * update, so that its first steps come from the policy before; one environment is exact.
 */
export const reinforce = (config: ReinforceConfig): ClassicAlgorithm =>
  overWindow(checkSettings(config).encoder, async (environment, { seed, threads = 1 }) => {
    const { definition } = environment
    requireSameStep(environment, 'reinforce')
    const { maxEpisodeSteps = longestEpisode } = config
    const numEnvs = environment.envs.count
    const width = rowSize(definition.observation)
    const choices = environment.actionMask.length / numEnvs
    const policy = mlpActorCritic(definition, config)
    const { actionSize } = policy.distribution
    const random = createRandom('reinforce', seed)
    const parameters = createParameters(policy.specs, random.split('parameters'))
    const adam = createAdam(parameters.data.length)
    const objective = await compilePolicyGradient(environment, policy, {
      name: 'reinforce',
      threads,
      entropy: config.entropy,
      valueWeight: config.baseline ? config.valueWeight : 0,
    })
    const drawing = random.split('actions')
    const actions = new Float32Array(numEnvs * actionSize)
    const values = new Float32Array(numEnvs)
    const last = new Float32Array(1)
    let running = Array.from({ length: numEnvs }, noSteps)
    let batch = noSteps()
    let returns: number[] = []
    let complete = 0

    /** Moves an environment's episode, which has ended, into the batch. */
    function close(envIndex: number): void {
      const steps = running[envIndex]
      let following = 0
      if (config.baseline && environment.terminated[envIndex] === 0) {
        const final = environment.finalObservations.subarray(envIndex * width, (envIndex + 1) * width)
        policy.evaluate(parameters, final, 1, last)
        following = last[0]
      }
      const found = steps.rewards.slice()
      for (let t = found.length - 1; t >= 0; t--) found[t] = following = found[t] + config.gamma * following
      for (const key of ['observations', 'actions', 'penalties', 'rewards', 'values'] as const)
        batch[key] = batch[key].concat(steps[key])
      returns = returns.concat(found)
      running[envIndex] = noSteps()
      complete++
    }

    async function update() {
      const rows = returns.length
      const tensor = (data: readonly number[], columns?: number): HostTensor => ({
        data: Float32Array.from(data),
        shape: columns === undefined ? [rows] : [rows, columns],
      })
      const advantages = Float32Array.from(returns, (value, i) => value - batch.values[i])
      const { metrics } = await gradientStep(
        { objective, parameters, optimiser: adam },
        config.learningRate,
        {
          observations: tensor(batch.observations, width),
          actions: tensor(batch.actions, actionSize),
          advantages: {
            data: config.normaliseAdvantages ? standardise(advantages) : advantages,
            shape: [rows],
          },
          returns: tensor(returns),
          ...(choices > 0 ? { maskPenalty: tensor(batch.penalties, choices) } : {}),
        },
      )
      batch = noSteps()
      returns = []
      complete = 0
      return metrics
    }

    return {
      act() {
        const { observations, actionMask } = environment
        const to = config.baseline ? { actions, values } : { actions }
        policy.act(parameters, observations, numEnvs, to, drawing, actionMask)
        for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
          const steps = running[envIndex]
          for (let k = 0; k < width; k++) steps.observations.push(observations[envIndex * width + k])
          for (let k = 0; k < actionSize; k++) steps.actions.push(actions[envIndex * actionSize + k])
          for (let k = 0; k < choices; k++)
            steps.penalties.push(actionMask[envIndex * choices + k] === 1 ? 0 : -1e9)
          steps.values.push(values[envIndex])
        }
        environment.actions.set(actions)
        clipActionRows(definition.action, environment.actions, numEnvs)
      },
      learn() {
        for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
          running[envIndex].rewards.push(environment.rewards[envIndex])
          const steps = running[envIndex].rewards.length
          if (environment.terminated[envIndex] === 1 || environment.truncated[envIndex] === 1) close(envIndex)
          else if (steps >= maxEpisodeSteps)
            throw endlessEpisode('reinforce', definition.name, { envIndex, steps })
        }
        return complete >= config.episodes ? update() : undefined
      },
      predict(observations, rows, chosen, mask) {
        policy.act(parameters, observations, rows, { actions: chosen }, undefined, mask)
        clipActionRows(definition.action, chosen, rows)
      },
      ...(config.baseline
        ? {
            values: (observations: Float32Array, rows: number, to: Float32Array) =>
              policy.evaluate(parameters, observations, rows, to),
          }
        : {}),
      ...stateOfParts({
        parameters: stateOfArray(parameters.data),
        adam,
        random: drawing,
        running: stateOfValue(
          () => running,
          (value) => (running = value),
        ),
        batch: stateOfValue(
          () => batch,
          (value) => (batch = value),
        ),
        returns: stateOfValue(
          () => returns,
          (value) => (returns = value),
        ),
        complete: stateOfValue(
          () => complete,
          (value) => (complete = value),
        ),
      }),
      dispose: () => objective.dispose(),
    }
  })
