import { type Activation, countParameters, createParameters } from '../../../engine/nn/index.ts'
import { createRandom, type Random } from '../../../engine/random/index.ts'
import { type AnyVector, box, rowSize } from '../../environment/index.ts'
import { boundedActions, type Encoder, squashedGaussian } from '../../policy/index.ts'
import type { ReplayBatch } from '../../replay/replay.ts'
import { type ClassicAlgorithm, stateOfFields, stateOfParts, type UpdateMetrics } from '../agent.ts'
import { checkSettings } from '../check-settings.ts'
import { overWindow } from '../wrap-algorithm.ts'
import {
  createTemperature,
  offPolicyAgent,
  type OffPolicyConfig,
  type TemperatureConfig,
} from './off-policy.ts'
import { sacActor, sacCritics } from './sac-programs.ts'
import { createSacWorkerPair } from './sac-worker-pair.ts'

/** Settings of `sac`. `sacPresets` has those of published runs. */
export interface SacConfig extends OffPolicyConfig {
  actorLearningRate: number
  /** Learning rate of the critics and the temperature. */
  criticLearningRate: number
  /** Share by which the target critics move in each gradient step. */
  tau: number
  /** Gradient steps between updates of the actor. It is then updated this many times. */
  actorEvery: number
  temperature: TemperatureConfig
  hidden: readonly number[]
  activation: Activation
  /** Default: `mlp`. */
  encoder?: Encoder
}

/** Settings of published runs, named after their source. `numEnvs` is their number of environments. */
export const sacPresets = {
  /** CleanRL `sac_continuous_action.py`. */
  cleanrl: {
    numEnvs: 1,
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
    numEnvs: 1,
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
} as const satisfies Record<string, SacConfig & { numEnvs: number }>

/**
 * Soft actor-critic (Haarnoja et al. 2018, arXiv:1801.01290), in the form of arXiv:1812.05905: the lesser of two
 * critics (Fujimoto et al. 2018), a squashed normal policy, and a temperature that keeps its entropy at -(length
 * of an action). Actions and their entropy are scaled to [-1, 1], whatever the bounds of the environment. With two
 * threads, each has a critic.
 *
 * @throws AgogeError `bad-argument` for settings outside their range
 * @example
 * const { numEnvs, ...config } = sacPresets['sb3-zoo-pendulum']
 * await trainClassic({ definition: pendulum, algorithm: sac(config), numEnvs, steps: 20_000 })
 */
export const sac = (config: SacConfig): ClassicAlgorithm =>
  overWindow(checkSettings(config).encoder, async (environment, { seed, threads = 1 }) => {
    const numEnvs = environment.envs.count
    const random = createRandom('sac', seed)
    const learner = await startSacLearner(environment, config, { random, threads })
    const { actorNetwork, criticNetworks, distribution, bounds, pair, critics, temperature } = learner
    const k = bounds.size
    const unit = new Float32Array(numEnvs * k)
    const scratch = new Float32Array(numEnvs * 2 * k)

    /** Writes the mode of the policy, in [-1, 1]. */
    function greedy(observations: Float32Array, count: number, actions: Float32Array): void {
      const parameters = new Float32Array(count * 2 * k)
      actorNetwork.forward(pair.actor, observations, count, parameters)
      for (let r = 0; r < count; r++) distribution.draw(parameters, r, actions, undefined)
    }

    return offPolicyAgent(
      environment,
      config,
      {
        explore(drawing, begun) {
          if (begun) {
            actorNetwork.forward(pair.actor, environment.observations, numEnvs, scratch)
            for (let r = 0; r < numEnvs; r++) distribution.draw(scratch, r, unit, drawing)
          } else for (let i = 0; i < numEnvs * k; i++) unit[i] = 2 * drawing.next() - 1
          bounds.toDefinition(unit, numEnvs, environment.actions)
        },
        update: (batch, drawing) => update(learner, batch, drawing),
        predict(observations, count, actions) {
          greedy(observations, count, actions)
          bounds.toDefinition(actions, count, actions)
        },
        values(observations, count, values) {
          const actions = new Float32Array(count * k)
          greedy(observations, count, actions)
          critics.data.set(pair.state().critics)
          criticNetworks.least(critics, observations, actions, count, values)
        },
        ...stateOfParts({ pair, temperature, ...stateOfFields(learner.progress, ['steps']) }),
        dispose: () => pair.dispose(),
      },
      random.split('draws'),
    )
  })

type Learner = Awaited<ReturnType<typeof startSacLearner>>

async function startSacLearner(
  { definition }: AnyVector,
  config: SacConfig,
  { random, threads }: { random: Random; threads: number },
) {
  const bounds = boundedActions(definition)
  const { observation } = definition
  const networks = { config, observation, width: rowSize(observation), action: bounds.size }
  const actorNetwork = sacActor(networks)
  const criticNetworks = sacCritics(networks)
  const pair = await createSacWorkerPair({ ...networks, actor: countParameters(actorNetwork.specs) }, threads)
  const critics = createParameters(criticNetworks.specs, random.split('critics'))
  const unlearned = { first: new Float32Array(0), second: new Float32Array(0), steps: 0 }
  pair.restore({
    actor: createParameters(actorNetwork.specs, random.split('actor')).data,
    critics: critics.data,
    targets: critics.data,
    actorAdam: unlearned,
    criticAdam: unlearned,
  })
  return {
    config,
    bounds,
    actorNetwork,
    criticNetworks,
    distribution: squashedGaussian(box([bounds.size], -1, 1)),
    /** Trains the networks; holds the parameters that learn. */
    pair,
    /** Where `values` copies the parameters of the critics. */
    critics,
    temperature: createTemperature(config.temperature, { learningRate: config.criticLearningRate }),
    /** Gradient steps so far. */
    progress: { steps: 0 },
  }
}

/** One gradient step of the critics, and those of the actor and the temperature that are due. */
async function update(learner: Learner, batch: ReplayBatch, drawing: Random): Promise<UpdateMetrics> {
  const { config, bounds, pair, temperature, progress } = learner
  const { buffer } = pair
  const { rows } = batch
  const k = bounds.size
  const times = ++progress.steps % config.actorEvery === 0 ? config.actorEvery : 0
  buffer.observations.set(batch.observations)
  buffer.nextObservations.set(batch.nextObservations)
  buffer.rewards.set(batch.returns)
  buffer.discounts.set(batch.discounts)
  bounds.toUnit(batch.actions, rows, buffer.actions)
  for (let i = 0; i < (1 + times) * rows * k; i++) buffer.noise[i] = drawing.normal()
  buffer.temperatures[0] = temperature.value[0]
  const metrics: UpdateMetrics = {}
  await pair.step(times, (time) => {
    const found = measureActor(learner, rows)
    temperature.update(found.entropy, -k)
    buffer.temperatures[time + 1] = temperature.value[0]
    Object.assign(metrics, found)
  })
  return {
    criticLoss: buffer.losses[0] + buffer.losses[1],
    value: buffer.estimates[0],
    ...metrics,
    temperature: temperature.value[0],
  }
}

/** The loss and the entropy of the last update of the actor, as means over the batch. */
function measureActor({ pair, temperature }: Learner, rows: number) {
  const { values, logprobs } = pair.buffer
  let [entropy, value] = [0, 0]
  for (let r = 0; r < rows; r++) {
    entropy -= logprobs[r] / rows
    value += Math.min(values[r], values[rows + r]) / rows
  }
  return { actorLoss: -temperature.value[0] * entropy - value, entropy }
}
