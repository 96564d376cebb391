import { box, rowSize } from '../../environment/index.ts'
import { countParameters, createParameters } from '../../nn/index.ts'
import type { Activation } from '../../nn/index.ts'
import { boundedActions, squashedGaussian } from '../../policy/index.ts'
import type { Body } from '../../policy/index.ts'
import { createRandom } from '../../random/index.ts'
import type { ArrayAlgorithm, UpdateMetrics } from './agent.ts'
import { checkSettings } from './check-settings.ts'
import { keptParts, keptValue } from './kept.ts'
import { offPolicyAgent } from './off-policy.ts'
import type { OffPolicyConfig } from './off-policy.ts'
import { overWindow } from './over-window.ts'
import { sacActor, sacCritics } from './sac-learner.ts'
import { createSacTeam } from './sac-team.ts'
import { createTemperature } from './temperature.ts'
import type { TemperatureConfig } from './temperature.ts'

export interface SacConfig extends OffPolicyConfig {
  actorLearningRate: number
  /** Of the critics and the temperature. */
  criticLearningRate: number
  /** Share that the target critics move in each gradient step. */
  tau: number
  /** The actor is updated every so many gradient steps, then as many times. */
  actorEvery: number
  temperature: TemperatureConfig
  hidden: readonly number[]
  activation: Activation
  /** Default `mlp`. */
  body?: Body
}

/** Settings of published runs, by where they come from. `slots` is how many environments they use. */
export const sacPresets = {
  /** CleanRL `sac_continuous_action.py`. */
  cleanrl: {
    slots: 1,
    bufferSize: 1_000_000,
    batchSize: 256,
    learningStarts: 5000,
    trainEvery: 1,
    gradientSteps: 1,
    gamma: 0.99,
    actorLearningRate: 3e-4,
    criticLearningRate: 1e-3,
    tau: 0.005,
    actorEvery: 2,
    temperature: { auto: true, start: 1 },
    hidden: [256, 256],
    activation: 'relu',
  },
  /** RL Baselines3 Zoo, `sac.yml`, Pendulum-v1 (20k steps), over the defaults of Stable-Baselines3's `SAC`. */
  'sb3-zoo-pendulum': {
    slots: 1,
    bufferSize: 1_000_000,
    batchSize: 256,
    learningStarts: 100,
    trainEvery: 1,
    gradientSteps: 1,
    gamma: 0.99,
    actorLearningRate: 1e-3,
    criticLearningRate: 1e-3,
    tau: 0.005,
    actorEvery: 1,
    temperature: { auto: true, start: 1 },
    hidden: [256, 256],
    activation: 'relu',
  },
} as const satisfies Record<string, SacConfig & { slots: number }>

/**
 * Soft actor-critic (Haarnoja et al. 2018, arXiv:1801.01290), in the form of arXiv:1812.05905: two critics of which the
 * lesser counts (Fujimoto et al. 2018), a policy of squashed normals, and a temperature that keeps its entropy at
 * -(numbers of an action). Actions and their entropy are taken in [-1, 1] whatever the world's bounds. With two threads each has
 * a critic.
 */
export const sac = (config: SacConfig): ArrayAlgorithm =>
  overWindow(checkSettings(config).body, async (environment, { seed, threads = 1 }) => {
    const { observation } = environment.world
    const slots = environment.slots.count
    const width = rowSize(observation)
    const bounds = boundedActions(environment.world)
    const k = bounds.size
    const rows = config.batchSize
    const networks = { config, observation, width, action: k }
    const actorNetwork = sacActor(networks)
    const criticNetworks = sacCritics(networks)
    const distribution = squashedGaussian(box([k], -1, 1))
    const random = createRandom('sac', seed)
    const team = await createSacTeam({ ...networks, actor: countParameters(actorNetwork.specs) }, threads)
    const { actor, board } = team
    const critics = createParameters(criticNetworks.specs, random.split('critics'))
    const unlearned = { first: new Float32Array(0), second: new Float32Array(0), steps: 0 }
    team.restore({
      actor: createParameters(actorNetwork.specs, random.split('actor')).data,
      critics: critics.data,
      targets: critics.data,
      actorAdam: unlearned,
      criticAdam: unlearned,
    })
    const temperature = createTemperature(config.temperature, {
      learningRate: config.criticLearningRate,
    })
    const unit = new Float32Array(slots * k)
    const scratch = new Float32Array(slots * 2 * k)
    let steps = 0

    /** Of the last update of the actor. */
    function measure(): UpdateMetrics & { entropy: number } {
      const { values, logprobs } = board
      let [entropy, value] = [0, 0]
      for (let r = 0; r < rows; r++) {
        entropy -= logprobs[r] / rows
        value += Math.min(values[r], values[rows + r]) / rows
      }
      return { actorLoss: -temperature.value[0] * entropy - value, entropy }
    }

    return offPolicyAgent(
      environment,
      config,
      {
        explore(drawing, begun) {
          if (begun) {
            actorNetwork.forward(actor, environment.observations, slots, scratch)
            for (let r = 0; r < slots; r++) distribution.draw(scratch, r, unit, drawing)
          } else for (let i = 0; i < slots * k; i++) unit[i] = 2 * drawing.next() - 1
          bounds.toWorld(unit, slots, environment.actions)
        },
        async update(batch, drawing) {
          const times = ++steps % config.actorEvery === 0 ? config.actorEvery : 0
          board.observations.set(batch.observations)
          board.nextObservations.set(batch.nextObservations)
          board.rewards.set(batch.returns)
          board.discounts.set(batch.discounts)
          bounds.toUnit(batch.actions, rows, board.actions)
          for (let i = 0; i < (1 + times) * rows * k; i++) board.noise[i] = drawing.normal()
          board.temperatures[0] = temperature.value[0]
          const figures: UpdateMetrics = {}
          await team.step(times, (time) => {
            const found = measure()
            temperature.update(found.entropy, -k)
            board.temperatures[time + 1] = temperature.value[0]
            Object.assign(figures, found)
          })
          return {
            criticLoss: board.losses[0] + board.losses[1],
            value: board.estimates[0],
            ...figures,
            temperature: temperature.value[0],
          }
        },
        decide(observations, count, actions) {
          const parameters = new Float32Array(count * 2 * k)
          actorNetwork.forward(actor, observations, count, parameters)
          for (let r = 0; r < count; r++) distribution.draw(parameters, r, actions, undefined)
          bounds.toWorld(actions, count, actions)
        },
        values(observations, count, values) {
          const parameters = new Float32Array(count * 2 * k)
          const actions = new Float32Array(count * k)
          actorNetwork.forward(actor, observations, count, parameters)
          for (let r = 0; r < count; r++) distribution.draw(parameters, r, actions, undefined)
          critics.data.set(team.state().critics)
          criticNetworks.least(critics, observations, actions, count, values)
        },
        ...keptParts({
          team,
          temperature,
          steps: keptValue(
            () => steps,
            (value) => (steps = value),
          ),
        }),
        dispose: () => team.dispose(),
      },
      random.split('draws'),
    )
  })
