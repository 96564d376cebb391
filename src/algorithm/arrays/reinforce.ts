import { requireSameStep, rowSize } from '../../environment/index.ts'
import { createAdam, createParameters } from '../../nn/index.ts'
import type { Activation } from '../../nn/index.ts'
import { clipActionRows, mlpActorCritic } from '../../policy/index.ts'
import type { Body } from '../../policy/index.ts'
import { createRandom } from '../../random/index.ts'
import type { HostTensor } from '../../tensor/index.ts'
import type { ArrayAlgorithm } from './agent.ts'
import { checkSettings } from './check-settings.ts'
import { endlessEpisode, longestEpisode } from './endless-episode.ts'
import type { WholeEpisodes } from './endless-episode.ts'
import { keptArray, keptParts, keptValue } from './kept.ts'
import { figures } from './figures.ts'
import { overWindow } from './over-window.ts'
import { compilePolicyGradient } from './policy-gradient.ts'
import { standardise } from './rollout.ts'

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
  body?: Body
}

/** Settings of our own, as there is no reference. `slots` is how many environments they are meant for. */
export const reinforcePresets = {
  baseline: {
    slots: 8,
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
    slots: 8,
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
} as const satisfies Record<string, ReinforceConfig & { slots: number }>

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
 * weight leaves out the discount of the time before the action. With several slots an episode may reach over an
 * update, so that its first steps come from the policy before; one slot is exact.
 */
export const reinforce = (config: ReinforceConfig): ArrayAlgorithm =>
  overWindow(checkSettings(config).body, async (environment, { seed, threads = 1 }) => {
    const { world } = environment
    requireSameStep(environment, 'reinforce')
    const { maxEpisodeSteps = longestEpisode } = config
    const slots = environment.slots.count
    const width = rowSize(world.observation)
    const choices = environment.actionMask.length / slots
    const policy = mlpActorCritic(world, config)
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
    const actions = new Float32Array(slots * actionSize)
    const values = new Float32Array(slots)
    const last = new Float32Array(1)
    let running = Array.from({ length: slots }, noSteps)
    let batch = noSteps()
    let returns: number[] = []
    let complete = 0

    /** Moves a slot's episode, which has ended, into the batch. */
    function close(slot: number): void {
      const steps = running[slot]
      let following = 0
      if (config.baseline && environment.terminated[slot] === 0) {
        const final = environment.finalObservations.subarray(slot * width, (slot + 1) * width)
        policy.evaluate(parameters, final, 1, last)
        following = last[0]
      }
      const found = steps.rewards.slice()
      for (let t = found.length - 1; t >= 0; t--) found[t] = following = found[t] + config.gamma * following
      for (const key of ['observations', 'actions', 'penalties', 'rewards', 'values'] as const)
        batch[key] = batch[key].concat(steps[key])
      returns = returns.concat(found)
      running[slot] = noSteps()
      complete++
    }

    async function update() {
      const rows = returns.length
      const tensor = (data: readonly number[], columns?: number): HostTensor => ({
        data: Float32Array.from(data),
        shape: columns === undefined ? [rows] : [rows, columns],
      })
      const advantages = Float32Array.from(returns, (value, i) => value - batch.values[i])
      const { loss, outputs } = await objective.evaluate(parameters, {
        observations: tensor(batch.observations, width),
        actions: tensor(batch.actions, actionSize),
        advantages: {
          data: config.normaliseAdvantages ? standardise(advantages) : advantages,
          shape: [rows],
        },
        returns: tensor(returns),
        ...(choices > 0 ? { maskPenalty: tensor(batch.penalties, choices) } : {}),
      })
      const gradientNorm = adam.step(parameters.data, objective.gradient.data, config.learningRate)
      batch = noSteps()
      returns = []
      complete = 0
      return { loss, gradientNorm, ...figures(outputs) }
    }

    return {
      act() {
        const { observations, actionMask } = environment
        const to = config.baseline ? { actions, values } : { actions }
        policy.act(parameters, observations, slots, to, drawing, actionMask)
        for (let slot = 0; slot < slots; slot++) {
          const steps = running[slot]
          for (let k = 0; k < width; k++) steps.observations.push(observations[slot * width + k])
          for (let k = 0; k < actionSize; k++) steps.actions.push(actions[slot * actionSize + k])
          for (let k = 0; k < choices; k++)
            steps.penalties.push(actionMask[slot * choices + k] === 1 ? 0 : -1e9)
          steps.values.push(values[slot])
        }
        environment.actions.set(actions)
        clipActionRows(world.action, environment.actions, slots)
      },
      learn() {
        for (let slot = 0; slot < slots; slot++) {
          running[slot].rewards.push(environment.rewards[slot])
          const steps = running[slot].rewards.length
          if (environment.terminated[slot] === 1 || environment.truncated[slot] === 1) close(slot)
          else if (steps >= maxEpisodeSteps) throw endlessEpisode('reinforce', world.name, { slot, steps })
        }
        return complete >= config.episodes ? update() : undefined
      },
      decide(observations, rows, chosen, mask) {
        policy.act(parameters, observations, rows, { actions: chosen }, undefined, mask)
        clipActionRows(world.action, chosen, rows)
      },
      ...(config.baseline
        ? {
            values: (observations: Float32Array, rows: number, to: Float32Array) =>
              policy.evaluate(parameters, observations, rows, to),
          }
        : {}),
      ...keptParts({
        parameters: keptArray(parameters.data),
        adam,
        random: drawing,
        running: keptValue(
          () => running,
          (value) => (running = value),
        ),
        batch: keptValue(
          () => batch,
          (value) => (batch = value),
        ),
        returns: keptValue(
          () => returns,
          (value) => (returns = value),
        ),
        complete: keptValue(
          () => complete,
          (value) => (complete = value),
        ),
      }),
      dispose: () => objective.dispose(),
    }
  })
