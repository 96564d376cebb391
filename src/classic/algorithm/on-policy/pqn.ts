import {
  type Activation,
  compileObjective,
  createParameters,
  createRAdam,
  type BatchMember,
} from '../../../engine/nn/index.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { mean, reshape, square, sub } from '../../../engine/tensor/index.ts'
import {
  type AnyVector,
  type DiscreteSpace,
  type EnvironmentDefinition,
  rowSize,
} from '../../environment/index.ts'
import { type Encoder, overObservations, valueNetwork } from '../../policy/index.ts'
import {
  discreteActions,
  epsilonAt,
  type EpsilonSchedule,
  greedy,
  maskOrNone,
  ofAction,
  randomAction,
} from '../action-values/action-values.ts'
import {
  type ClassicAlgorithm,
  stateOfArray,
  stateOfFields,
  stateOfParts,
  type UpdateMetrics,
} from '../agent.ts'
import { checkMinibatches, checkSettings } from '../check-settings.ts'
import { gradientStep, meanMetrics } from '../gradient-step.ts'
import { overWindow } from '../wrap-algorithm.ts'
import { createRollout } from './rollout.ts'

/** Settings of `pqn`. `pqnPresets` has those of published runs. */
export interface PqnConfig extends EpsilonSchedule {
  /** Steps of each environment between updates. */
  rolloutSteps: number
  epochs: number
  minibatches: number
  learningRate: number
  /** Lowers the learning rate linearly to 0. */
  anneal: boolean
  gamma: number
  lambda: number
  maxGradientNorm: number | null
  hidden: readonly number[]
  activation: Activation
  /** Default: `mlp`. */
  encoder?: Encoder
}

/** Settings of published runs, named after their source. `numEnvs` is their number of environments. */
export const pqnPresets = {
  /** CleanRL `pqn.py`. */
  cleanrl: {
    numEnvs: 4,
    rolloutSteps: 128,
    epochs: 4,
    minibatches: 4,
    learningRate: 2.5e-4,
    anneal: true,
    gamma: 0.99,
    lambda: 0.65,
    maxGradientNorm: 10,
    epsilonStart: 1,
    epsilonEnd: 0.05,
    explorationFraction: 0.5,
    hidden: [120, 84],
    activation: 'relu',
  },
} as const satisfies Record<string, PqnConfig & { numEnvs: number }>

/**
 * Parallelised Q-network (Gallici et al. 2024, arXiv:2407.04811): Q-learning on rollouts of many environments,
 * without a replay buffer or target network, stabilised by layer normalisation. Targets are Q(lambda) returns.
 * Truncated episodes are bootstrapped. Uses rectified Adam, as the authors and CleanRL do.
 */
export const pqn = (config: PqnConfig): ClassicAlgorithm =>
  overWindow(checkSettings(config).encoder, async (environment, { seed, totalSteps, threads = 1, batch }) => {
    const learner = await createPqnLearner(environment, config, { seed, totalSteps, threads, batch })
    const { parameters, optimiser, objective, rollout, drawing, progress, actions, start } = learner
    const numEnvs = environment.envs.count
    const evaluate = (from: Float32Array, count: number, to: Float32Array, mask?: Uint8Array): void =>
      eachBest(learner, from, count, mask, (q, r, best) => (to[r] = q[r * actions + best]))
    return {
      act() {
        const epsilon = epsilonAt(config, progress.seen, totalSteps)
        const mask = maskOrNone(environment.actionMask)
        const to = rollout.next()
        eachBest(learner, environment.observations, numEnvs, mask, (q, r, best) => {
          const explores = drawing.next() < epsilon
          to.actions[r] = start + (explores ? randomAction(drawing, r, actions, mask) : best)
          to.values[r] = q[r * actions + best]
        })
        rollout.acted()
      },
      learn() {
        progress.seen += numEnvs
        if (!rollout.stepped()) return undefined
        // With the greatest action values as state values, GAE plus value is the Q(lambda) return.
        rollout.finish(config, evaluate)
        return update(learner)
      },
      predict: (given, count, to, mask) =>
        eachBest(learner, given, count, mask, (_, r, best) => (to[r] = start + best)),
      values: evaluate,
      ...stateOfParts({
        parameters: stateOfArray(parameters.data),
        optimiser,
        random: drawing,
        rollout,
        ...stateOfFields(progress, ['seen']),
      }),
      dispose: () => objective.dispose(),
    }
  })

type Learner = Awaited<ReturnType<typeof createPqnLearner>>

async function createPqnLearner(
  environment: AnyVector,
  config: PqnConfig,
  {
    seed,
    totalSteps,
    threads,
    batch,
  }: { seed: number; totalSteps: number; threads: number; batch: BatchMember | undefined },
) {
  const { definition } = environment
  const { n: actions, start } = discreteActions(definition, 'pqn')
  const rows = environment.envs.count * config.rolloutSteps
  checkMinibatches(config.minibatches, rows)
  const network = pqnNetwork(definition, config)
  const random = createRandom('pqn', seed)
  const parameters = createParameters(network.specs, random.split('parameters'))
  const objective = await compileObjective({
    name: 'pqn',
    threads,
    batch,
    parameters: parameters.shapes,
    inputs: {
      observations: { shape: ['B', rowSize(definition.observation)] },
      actions: { shape: ['B', 1] },
      returns: { shape: ['B'] },
    },
    trace(weights, inputs) {
      const all = network.trace(weights, inputs['observations'])
      const taken = ofAction(all, inputs['actions'], { actions, atoms: 1, start })
      return { loss: mean(square(sub(reshape(taken, ['B']), inputs['returns']))) }
    },
  })
  return {
    config,
    totalSteps,
    actions,
    start,
    rows,
    network,
    parameters,
    optimiser: createRAdam(parameters.data.length, { maxGradientNorm: config.maxGradientNorm ?? Infinity }),
    rollout: createRollout(environment, config.rolloutSteps, 1, { finalMasks: true, rewards: Float32Array }),
    objective,
    drawing: random.split('draws'),
    /** Steps of all environments so far. */
    progress: { seen: 0 },
  }
}

/** Calls back with the values [rows, actions], the row, and its best allowed action. */
function eachBest(
  { network, parameters, actions }: Learner,
  from: Float32Array,
  count: number,
  masks: Uint8Array | undefined,
  write: (q: Float32Array, row: number, best: number) => void,
): void {
  const q = new Float32Array(count * actions)
  network.forward(parameters, from, count, q)
  const mask = masks && maskOrNone(masks)
  for (let r = 0; r < count; r++) write(q, r, greedy(q, r, actions, mask))
}

/** The epochs of gradient steps on a full rollout. */
async function update(learner: Learner): Promise<UpdateMetrics> {
  const { config, totalSteps, rows, rollout, drawing, objective, parameters, optimiser } = learner
  const { seen } = learner.progress
  const learningRate = config.learningRate * (config.anneal ? 1 - (seen - rows) / totalSteps : 1)
  const metrics = meanMetrics()
  for (let epoch = 0; epoch < config.epochs; epoch++)
    for (const batch of rollout.minibatches(config.minibatches, drawing, false)) {
      const { observations, actions, returns } = batch
      const feeds = { observations, actions, returns }
      metrics.add((await gradientStep({ objective, parameters, optimiser }, learningRate, feeds)).metrics)
    }
  return { ...metrics.mean(), epsilon: epsilonAt(config, seen, totalSteps) }
}

const pqnNetwork = (
  { observation, action }: EnvironmentDefinition,
  { hidden, activation, encoder }: PqnConfig,
) =>
  overObservations(
    observation,
    (inputs) =>
      valueNetwork({
        inputs,
        hidden,
        activation,
        actions: (action as DiscreteSpace).n,
        layerNorm: true,
        initialise: 'orthogonal',
      }),
    { encoder },
  )
