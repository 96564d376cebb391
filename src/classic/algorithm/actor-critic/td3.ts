import {
  compileObjective,
  createAdam,
  createParameters,
  moveTowards,
  zeroParameters,
} from '../../../engine/nn/index.ts'
import type { Activation, ParameterSet } from '../../../engine/nn/index.ts'
import { createRandom } from '../../../engine/random/index.ts'
import type { Random } from '../../../engine/random/index.ts'
import { add, maximum, mean, minimum, mul, neg, square, sub, tanh } from '../../../engine/tensor/index.ts'
import type { HostTensor } from '../../../engine/tensor/index.ts'
import { rowSize } from '../../environment/index.ts'
import type { EnvironmentDefinition } from '../../environment/index.ts'
import {
  boundedActions,
  fanInUniform,
  leastOf,
  mlpActionValues,
  mlpNetwork,
  overObservations,
} from '../../policy/index.ts'
import type { Encoder } from '../../policy/index.ts'
import type { ReplayBatch } from '../../replay/replay.ts'
import { stateOfArray, stateOfFields, stateOfParts } from '../agent.ts'
import type { ClassicAlgorithm, UpdateMetrics } from '../agent.ts'
import { checkSettings } from '../check-settings.ts'
import { gradientStep, metricsOf } from '../gradient-step.ts'
import { overWindow } from '../wrap-algorithm.ts'
import { joinParameters, offPolicyAgent } from './off-policy.ts'
import type { OffPolicyConfig } from './off-policy.ts'

/** Settings of `td3`. `td3Presets` has those of published runs. */
export interface Td3Config extends OffPolicyConfig {
  learningRate: number
  /** Share by which the target networks move at each update of the actor. */
  tau: number
  /** Number of critics. The least value counts. */
  critics: number
  /** Gradient steps between updates of the actor and the targets. */
  policyDelay: number
  /** Standard deviation of the noise on actions, in units of [-1, 1]. */
  explorationNoise: number
  /** Standard deviation and clip of the noise on the target's actions. */
  targetNoise: number
  targetNoiseClip: number
  hidden: readonly number[]
  activation: Activation
  /** Default: `mlp`. */
  encoder?: Encoder
}

/** Settings of published runs, named after their source. `numEnvs` is their number of environments. */
export const td3Presets = {
  /** CleanRL `td3_continuous_action.py`. */
  cleanrl: {
    numEnvs: 1,
    bufferSize: 1_000_000,
    batchSize: 256,
    learningStarts: 25_000,
    trainEvery: 1,
    gradientSteps: 1,
    gamma: 0.99,
    learningRate: 3e-4,
    tau: 0.005,
    critics: 2,
    policyDelay: 2,
    explorationNoise: 0.1,
    targetNoise: 0.2,
    targetNoiseClip: 0.5,
    hidden: [256, 256],
    activation: 'relu',
  },
  /** RL Baselines3 Zoo, `td3.yml`, Pendulum-v1 (20k steps), over the defaults of Stable-Baselines3's `TD3` (2.3 on). */
  'sb3-zoo-pendulum': {
    numEnvs: 1,
    bufferSize: 200_000,
    batchSize: 256,
    learningStarts: 10_000,
    trainEvery: 1,
    gradientSteps: 1,
    gamma: 0.98,
    learningRate: 1e-3,
    tau: 0.005,
    critics: 2,
    policyDelay: 2,
    explorationNoise: 0.1,
    targetNoise: 0.2,
    targetNoiseClip: 0.5,
    hidden: [400, 300],
    activation: 'relu',
  },
} as const satisfies Record<string, Td3Config & { numEnvs: number }>

/**
 * Twin delayed deep deterministic policy gradient (Fujimoto et al. 2018, arXiv:1802.09477): the lesser of two
 * critics, noise on the actions of the target, and fewer updates of the actor. Actions are scaled to [-1, 1],
 * whatever the bounds of the environment. A gradient step runs one program, or two when the actor is updated.
 */
export const td3 = (config: Td3Config): ClassicAlgorithm =>
  overWindow(checkSettings(config).encoder, async (environment, { seed, threads = 1 }) => {
    const numEnvs = environment.envs.count
    const bounds = boundedActions(environment.definition)
    const k = bounds.size
    const random = createRandom('td3', seed)
    const networks = createNetworks(environment.definition, config, k, random)
    const { actorNetwork, criticNetworks, actor, critics } = networks
    const learners = await compileLearners(networks, k, threads)
    const learner = { config, bounds, networks, learners, progress: { steps: 0 } }
    const unit = new Float32Array(numEnvs * k)

    function greedy(observations: Float32Array, count: number, actions: Float32Array): void {
      actorNetwork.forward(actor, observations, count, actions)
      for (let i = 0; i < count * k; i++) actions[i] = Math.tanh(actions[i])
    }

    return offPolicyAgent(
      environment,
      config,
      {
        explore(drawing, begun) {
          if (begun) {
            greedy(environment.observations, numEnvs, unit)
            for (let i = 0; i < numEnvs * k; i++)
              unit[i] = Math.max(-1, Math.min(1, unit[i] + config.explorationNoise * drawing.normal()))
          } else for (let i = 0; i < numEnvs * k; i++) unit[i] = 2 * drawing.next() - 1
          bounds.toDefinition(unit, numEnvs, environment.actions)
        },
        update: createUpdate(learner),
        predict(observations, count, actions) {
          greedy(observations, count, actions)
          bounds.toDefinition(actions, count, actions)
        },
        values(observations, count, values) {
          const actions = new Float32Array(count * k)
          greedy(observations, count, actions)
          criticNetworks.least(critics, observations, actions, count, values)
        },
        ...stateOfParts({
          actor: stateOfArray(actor.data),
          critics: stateOfArray(critics.data),
          targetActor: stateOfArray(networks.targetActor.data),
          targetCritics: stateOfArray(networks.targetCritics.data),
          actorAdam: networks.actorAdam,
          criticAdam: networks.criticAdam,
          ...stateOfFields(learner.progress, ['steps']),
        }),
        async dispose() {
          await learners.critics.objective.dispose()
          await learners.actor.objective.dispose()
        },
      },
      random.split('draws'),
    )
  })

/**
 * Returns a function that makes a gradient step of the critics, and when it is due one of the actor and the
 * targets.
 */
function createUpdate({
  config,
  bounds,
  networks,
  learners,
  progress,
}: {
  config: Td3Config
  bounds: ReturnType<typeof boundedActions>
  networks: Networks
  learners: Awaited<ReturnType<typeof compileLearners>>
  /** Gradient steps so far. */
  progress: { steps: number }
}) {
  const { width, actor, critics, targetActor, targetCritics } = networks
  const { batchSize: rows, targetNoise, targetNoiseClip: clip, learningRate, tau } = config
  const k = bounds.size
  const noise: HostTensor = { data: new Float32Array(rows * k), shape: [rows, k] }
  const actions = new Float32Array(rows * k)
  return async (batch: ReplayBatch, drawing: Random): Promise<UpdateMetrics> => {
    bounds.toUnit(batch.actions, rows, actions)
    for (let i = 0; i < rows * k; i++)
      noise.data[i] = Math.max(-clip, Math.min(clip, targetNoise * drawing.normal()))
    const observations: HostTensor = { data: batch.observations, shape: [rows, width] }
    const feeds = {
      observations,
      actions: { data: actions, shape: [rows, k] },
      rewards: { data: batch.returns, shape: [rows] },
      discounts: { data: batch.discounts, shape: [rows] },
      nextObservations: { data: batch.nextObservations, shape: [rows, width] },
      noise,
    }
    const ofCritics = await gradientStep(learners.critics, learningRate, feeds, networks.judging)
    const metrics = metricsOf('critic', ofCritics.metrics)
    if (++progress.steps % config.policyDelay !== 0) return metrics
    const ofActor = await gradientStep(learners.actor, learningRate, { observations }, critics)
    moveTowards(targetActor, actor, tau)
    moveTowards(targetCritics, critics, tau)
    return { ...metrics, ...metricsOf('actor', ofActor.metrics) }
  }
}

type Networks = ReturnType<typeof createNetworks>

function createNetworks(
  { observation }: EnvironmentDefinition,
  { hidden, activation, encoder, critics: count }: Td3Config,
  k: number,
  random: Random,
) {
  const actorNetwork = overObservations(
    observation,
    (inputs) => fanInUniform(mlpNetwork({ inputs, hidden, activation, outputs: k, prefix: 'actor.' })),
    { encoder, prefix: 'actor.' },
  )
  const criticNetworks = mlpActionValues({ observation, action: k, count }, { hidden, activation, encoder })
  const actor = createParameters(actorNetwork.specs, random.split('actor'))
  const critics = createParameters(criticNetworks.specs, random.split('critics'))
  const copyOf = (set: ParameterSet): ParameterSet => {
    const copy = zeroParameters(set.shapes)
    copy.data.set(set.data)
    return copy
  }
  const targetActor = copyOf(actor)
  const targetCritics = copyOf(critics)
  return {
    width: rowSize(observation),
    actorNetwork,
    criticNetworks,
    actor,
    critics,
    targetActor,
    targetCritics,
    /** Parameters from which the targets of the critics are computed. */
    judging: joinParameters(targetActor, targetCritics),
    actorAdam: createAdam(actor.data.length),
    criticAdam: createAdam(critics.data.length),
  }
}

async function compileLearners(networks: Networks, k: number, threads: number) {
  const { width, actorNetwork, criticNetworks, actor, critics, judging, actorAdam, criticAdam } = networks
  const criticObjective = await compileObjective({
    name: 'td3 critics',
    threads,
    parameters: critics.shapes,
    fixed: judging.shapes,
    inputs: {
      observations: { shape: ['B', width] },
      actions: { shape: ['B', k] },
      rewards: { shape: ['B'] },
      discounts: { shape: ['B'] },
      nextObservations: { shape: ['B', width] },
      noise: { shape: ['B', k] },
    },
    trace(weights, { observations, actions, rewards, discounts, nextObservations, noise }, fixed) {
      const smoothed = add(tanh(actorNetwork.trace(fixed, nextObservations)), noise)
      const nextActions = minimum(maximum(smoothed, -1), 1)
      const following = leastOf(criticNetworks.trace(fixed, nextObservations, nextActions))
      const target = add(rewards, mul(discounts, following))
      const estimates = criticNetworks.trace(weights, observations, actions)
      return {
        loss: estimates.map((q) => mean(square(sub(q, target)))).reduce((a, b) => add(a, b)),
        outputs: { value: mean(estimates[0]) },
      }
    },
  })
  const actorObjective = await compileObjective({
    name: 'td3 actor',
    threads,
    parameters: actor.shapes,
    fixed: critics.shapes,
    inputs: { observations: { shape: ['B', width] } },
    trace(weights, { observations }, fixed) {
      const actions = tanh(actorNetwork.trace(weights, observations))
      return { loss: neg(mean(criticNetworks.trace(fixed, observations, actions)[0])) }
    },
  })
  return {
    critics: { objective: criticObjective, parameters: critics, optimiser: criticAdam },
    actor: { objective: actorObjective, parameters: actor, optimiser: actorAdam },
  }
}

/** Settings of `ddpg`. `ddpgPresets` has those of published runs. */
export type DdpgConfig = Omit<Td3Config, 'critics' | 'targetNoise' | 'targetNoiseClip'>

const plain = ({
  critics: _critics,
  targetNoise: _targetNoise,
  targetNoiseClip: _targetNoiseClip,
  ...rest
}: Td3Config & { numEnvs: number }): DdpgConfig & { numEnvs: number } => rest

/** Settings of published runs, named after their source. `numEnvs` is their number of environments. */
export const ddpgPresets = {
  /** CleanRL `ddpg_continuous_action.py`, which also updates the actor every second step. */
  cleanrl: plain(td3Presets.cleanrl),
  /** RL Baselines3 Zoo, `ddpg.yml`, Pendulum-v1 (20k steps), over the defaults of Stable-Baselines3's `DDPG` (2.3 on). */
  'sb3-zoo-pendulum': { ...plain(td3Presets['sb3-zoo-pendulum']), policyDelay: 1 },
} satisfies Record<string, DdpgConfig & { numEnvs: number }>

/**
 * Deep deterministic policy gradient (Lillicrap et al. 2016, arXiv:1509.02971): TD3 with one critic and without
 * noise on the target's actions. Explores with independent normal noise, as is common today, not with the paper's
 * Ornstein-Uhlenbeck process.
 */
export const ddpg = (config: DdpgConfig): ClassicAlgorithm =>
  td3({ ...config, critics: 1, targetNoise: 0, targetNoiseClip: 0 })
