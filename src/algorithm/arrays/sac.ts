import { box, rowSize } from '../../environment/index.ts'
import {
  compileObjective,
  countParameters,
  createAdam,
  createParameters,
  zeroParameters,
} from '../../nn/index.ts'
import type { Activation, AdamState } from '../../nn/index.ts'
import {
  boundedActions,
  fanInUniform,
  leastOf,
  mlpActionValues,
  mlpNetwork,
  overObservations,
} from '../../policy/index.ts'
import { squashedGaussian } from '../../policy/index.ts'
import type { Body } from '../../policy/index.ts'
import { createRandom } from '../../random/index.ts'
import { add, mean, mul, neg, square, sub } from '../../tensor/index.ts'
import type { HostTensor } from '../../tensor/index.ts'
import type { ArrayAlgorithm, UpdateMetrics } from './agent.ts'
import { joinParameters, offPolicyAgent } from './off-policy.ts'
import type { OffPolicyConfig } from './off-policy.ts'
import { overWindow } from './over-window.ts'
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

interface SacState {
  actor: Float32Array
  critics: Float32Array
  targets: Float32Array
  actorAdam: AdamState
  criticAdam: AdamState
  temperature: unknown
  steps: number
}

/**
 * Soft actor-critic (Haarnoja et al. 2018, arXiv:1801.01290), in the form of arXiv:1812.05905: two critics of which the
 * lesser counts (Fujimoto et al. 2018), a policy of squashed normals, and a temperature that keeps its entropy at
 * -(numbers of an action). Actions and their entropy are taken in [-1, 1] whatever the world's bounds. A gradient step is two
 * program runs: the critics with their targets, then the actor.
 */
export const sac = (config: SacConfig): ArrayAlgorithm =>
  overWindow(config.body, async (environment, { seed, threads = 1 }) => {
    const { world } = environment
    const slots = environment.slots.count
    const width = rowSize(world.observation)
    const bounds = boundedActions(world)
    const k = bounds.size
    const rows = config.batchSize
    const { hidden, activation, body } = config
    const distribution = squashedGaussian(box([k], -1, 1))
    const actorNetwork = overObservations(
      world.observation,
      (inputs) => fanInUniform(mlpNetwork({ inputs, hidden, activation, outputs: 2 * k, prefix: 'actor.' })),
      { body, prefix: 'actor.' },
    )
    const criticNetworks = mlpActionValues(
      { observation: world.observation, action: k, count: 2 },
      { hidden, activation, body },
    )
    const random = createRandom('sac', seed)
    const actorAdam = createAdam(countParameters(actorNetwork.specs))
    const criticAdam = createAdam(countParameters(criticNetworks.specs))
    const actor = createParameters(actorNetwork.specs, random.split('actor'), actorAdam.own.parameters)
    const critics = createParameters(criticNetworks.specs, random.split('critics'), criticAdam.own.parameters)
    const targets = zeroParameters(critics.shapes, criticAdam.own.target)
    criticAdam.follow(1)
    const temperature = createTemperature(config.temperature, {
      target: -k,
      learningRate: config.criticLearningRate,
    })
    const judging = joinParameters(actor, targets)
    const noise: HostTensor = { data: new Float32Array(rows * k), shape: [rows, k] }
    const alpha: HostTensor = { data: temperature.value, shape: [1] }
    const unit = new Float32Array(Math.max(slots, rows) * k)
    let steps = 0

    const criticObjective = await compileObjective({
      name: 'sac critics',
      gradient: criticAdam.own.gradient,
      threads,
      meanOver: 'B',
      parameters: critics.shapes,
      fixed: judging.shapes,
      inputs: {
        observations: { shape: ['B', width] },
        actions: { shape: ['B', k] },
        rewards: { shape: ['B'] },
        discounts: { shape: ['B'] },
        nextObservations: { shape: ['B', width] },
        noise: { shape: ['B', k] },
        alpha: { shape: [1] },
      },
      trace(weights, inputs, fixed) {
        const { observations, actions, rewards, discounts, nextObservations } = inputs
        const next = distribution.sample(actorNetwork.trace(fixed, nextObservations), inputs['noise'])
        const following = leastOf(criticNetworks.trace(fixed, nextObservations, next.actions))
        const soft = sub(following, mul(inputs['alpha'], next.logprobs))
        const target = add(rewards, mul(discounts, soft))
        const estimates = criticNetworks.trace(weights, observations, actions)
        const losses = estimates.map((q) => mean(square(sub(q, target))))
        return { loss: mul(add(losses[0], losses[1]), 0.5), outputs: { value: mean(estimates[0]) } }
      },
    })
    const actorObjective = await compileObjective({
      name: 'sac actor',
      gradient: actorAdam.own.gradient,
      threads,
      meanOver: 'B',
      parameters: actor.shapes,
      fixed: critics.shapes,
      inputs: { observations: { shape: ['B', width] }, noise: { shape: ['B', k] }, alpha: { shape: [1] } },
      trace(weights, { observations, noise: drawn, alpha: weight }, fixed) {
        const { actions, logprobs } = distribution.sample(actorNetwork.trace(weights, observations), drawn)
        const q = leastOf(criticNetworks.trace(fixed, observations, actions))
        return {
          loss: mean(sub(mul(weight, logprobs), q)),
          outputs: { entropy: neg(mean(logprobs)) },
        }
      },
    })

    const scratch = new Float32Array(slots * 2 * k)
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
          const drawNoise = (): void => {
            for (let i = 0; i < rows * k; i++) noise.data[i] = drawing.normal()
          }
          bounds.toUnit(batch.actions, rows, unit)
          const observations: HostTensor = { data: batch.observations, shape: [rows, width] }
          drawNoise()
          const { loss, outputs } = await criticObjective.evaluate(
            critics,
            {
              observations,
              actions: { data: unit.subarray(0, rows * k), shape: [rows, k] },
              rewards: { data: batch.returns, shape: [rows] },
              discounts: { data: batch.discounts, shape: [rows] },
              nextObservations: { data: batch.nextObservations, shape: [rows, width] },
              noise,
              alpha,
            },
            judging,
          )
          criticAdam.step(critics.data, criticObjective.gradient.data, config.criticLearningRate)
          const figures: UpdateMetrics = { criticLoss: loss, value: outputs.value.data[0] }
          const times = ++steps % config.actorEvery === 0 ? config.actorEvery : 0
          for (let time = 0; time < times; time++) {
            drawNoise()
            const found = await actorObjective.evaluate(actor, { observations, noise, alpha }, critics)
            actorAdam.step(actor.data, actorObjective.gradient.data, config.actorLearningRate)
            const entropy = found.outputs.entropy.data[0]
            temperature.update(entropy)
            Object.assign(figures, { actorLoss: found.loss, entropy })
          }
          criticAdam.follow(config.tau)
          return { ...figures, temperature: temperature.value[0] }
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
          criticNetworks.least(critics, observations, actions, count, values)
        },
        state: (): SacState => ({
          actor: actor.data.slice(),
          critics: critics.data.slice(),
          targets: targets.data.slice(),
          actorAdam: actorAdam.state(),
          criticAdam: criticAdam.state(),
          temperature: temperature.state(),
          steps,
        }),
        restore(saved) {
          const state = saved as SacState
          actor.data.set(state.actor)
          critics.data.set(state.critics)
          targets.data.set(state.targets)
          actorAdam.restore(state.actorAdam)
          criticAdam.restore(state.criticAdam)
          temperature.restore(state.temperature)
          steps = state.steps
        },
        async dispose() {
          await criticObjective.dispose()
          await actorObjective.dispose()
        },
      },
      random.split('draws'),
    )
  })
