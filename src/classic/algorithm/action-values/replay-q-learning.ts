import {
  type Activation,
  compileObjective,
  countParameters,
  createAdam,
  createParameters,
  type ParameterSet,
  zeroParameters,
} from '../../../engine/nn/index.ts'
import { createRandom, type Random } from '../../../engine/random/index.ts'
import { type HostTensor, type InputSpec, mean, mul } from '../../../engine/tensor/index.ts'
import type { AnyVector, EnvironmentDefinition } from '../../environment/index.ts'
import { type Encoder, noisyParameters, overObservations, valueNetwork } from '../../policy/index.ts'
import { createReplay, type Replay, type ReplayBatch } from '../../replay/replay.ts'
import {
  type ClassicAlgorithm,
  stateOfArray,
  stateOfParts,
  stateOfValue,
  type UpdateMetrics,
} from '../agent.ts'
import { checkSettings } from '../check-settings.ts'
import { gradientStep, meanMetrics } from '../gradient-step.ts'
import { overWindow } from '../wrap-algorithm.ts'
import {
  compileNextValues,
  discreteActions,
  epsilonAt,
  type EpsilonSchedule,
  greedy,
  maskOrNone,
  ofAction,
  randomAction,
  type ValueMethod,
} from './action-values.ts'

/**
 * Settings of methods that learn action values from a replay buffer. Steps count over all environments of the
 * vector.
 */
export interface ReplayQConfig extends EpsilonSchedule {
  learningRate: number
  adamEpsilon: number
  /** Clips gradients to this norm; null for no clipping (settings are stored as JSON, which has no Infinity). */
  maxGradientNorm: number | null
  gamma: number
  /** Transitions that the replay buffer holds. */
  bufferSize: number
  batchSize: number
  /** Steps before the first update. */
  learningStarts: number
  /** Steps between updates. An update has `gradientSteps` gradient steps. */
  trainEvery: number
  gradientSteps: number
  /** Steps between updates of the target network, which moves towards the online network by the share `tau`. */
  targetEvery: number
  tau: number
  hidden: readonly number[]
  activation: Activation
  /** Default: `mlp`. */
  encoder?: Encoder
  /**
   * Double Q-learning: the online network chooses the action of the next state, not the target network (van
   * Hasselt et al. 2016).
   */
  double: boolean
  /** Separate streams for the state value and the advantages (Wang et al. 2016). */
  dueling: boolean
  /** Learned noise on the weights explores instead of epsilon (Fortunato et al. 2018). */
  noisy: boolean
  /**
   * Samples transitions with probability proportional to error^alpha. Beta rises linearly to 1 (Schaul et al.
   * 2016).
   */
  prioritised: false | { alpha: number; beta: number }
  /** Number of rewards before the bootstrap (Sutton 1988). */
  nSteps: number
}

/**
 * Q-learning with a neural network, a replay buffer and a target network (Mnih et al. 2015), for any `method`.
 * Truncated episodes are bootstrapped from their last observation. Masked actions are neither taken nor maximised
 * over.
 */
export const replayQLearning = (config: ReplayQConfig, method: ValueMethod): ClassicAlgorithm =>
  overWindow(checkSettings(config).encoder, async (environment, { seed, totalSteps, threads = 1 }) => {
    const { definition } = environment
    const { n: actions, start } = discreteActions(definition, method.name)
    const sizes = { actions, start, atoms: method.atoms }
    const numEnvs = environment.envs.count
    const random = createRandom(method.name, seed)
    const networks = createQNetworks(config, definition, sizes, random)
    const { adam, drawNoise } = networks
    const drawing = random.split('draws')
    const { prioritised } = config
    const replay = createReplay(environment, {
      capacity: config.bufferSize,
      gamma: config.gamma,
      nSteps: config.nSteps,
      ...(prioritised === false ? {} : { alpha: prioritised.alpha }),
    })
    const parts = { environment, config, method, networks, replay, drawing, sizes, threads }
    const learner = await createReplayQLearner(parts)
    const act = createExplorer(parts)
    const eachBest = createReader(parts)
    let seen = 0
    const epsilonNow = (): number => (config.noisy ? 0 : epsilonAt(config, seen, totalSteps))
    /** Number of multiples of `every` in the steps of the last call. */
    const passed = (every: number): number => Math.floor(seen / every) - Math.floor((seen - numEnvs) / every)
    drawNoise(drawing)

    async function update(times: number, movesTarget: boolean): Promise<UpdateMetrics> {
      let metrics: UpdateMetrics = {}
      for (let k = 0; k < times; k++) {
        metrics = await learner.update(seen / totalSteps)
        drawNoise(drawing)
      }
      if (movesTarget) adam.follow(config.tau)
      return { ...metrics, epsilon: epsilonNow() }
    }

    return {
      act() {
        act(epsilonNow())
        replay.acted()
      },
      learn() {
        replay.stepped()
        seen += numEnvs
        const due = passed(config.trainEvery)
        const movesTarget = passed(config.targetEvery) > 0
        if (due > 0 && seen > config.learningStarts && replay.size > 0) return update(due, movesTarget)
        // Before learning starts, noise is drawn anew at each update that would be due. Otherwise one policy would
        // fill the buffer.
        if (due > 0) drawNoise(drawing)
        if (movesTarget) adam.follow(config.tau)
        return undefined
      },
      predict: (given, count, to, mask) =>
        eachBest(given, count, mask, (_, r, best) => (to[r] = start + best)),
      values: (given, count, to, mask) =>
        eachBest(given, count, mask, (values, r, best) => (to[r] = values[r * actions + best])),
      ...stateOfParts({
        parameters: stateOfArray(networks.parameters.data),
        target: stateOfArray(networks.target.data),
        adam,
        replay,
        random: drawing,
        noise: stateOfArray(networks.noise),
        seen: stateOfValue(
          () => seen,
          (value) => {
            seen = value
            // Parameters and noise have been restored by now.
            networks.applyNoise()
          },
        ),
      }),
      dispose: () => learner.dispose(),
    }
  })

interface Sizes {
  actions: number
  /** Number of the first action. */
  start: number
  /** Outputs of the network for an action. */
  atoms: number
}

interface LearnerParts {
  environment: AnyVector
  config: ReplayQConfig
  method: ValueMethod
  networks: QNetworks
  replay: Replay
  drawing: Random
  sizes: Sizes
  threads: number
}

/** Returns a function that writes an action for every environment: random with probability epsilon, otherwise greedy. */
function createExplorer({ environment, method, networks, drawing, sizes }: LearnerParts) {
  const { network, acting } = networks
  const { actions, start, atoms } = sizes
  const numEnvs = environment.envs.count
  const q = new Float32Array(numEnvs * actions)
  const numbers = new Float32Array(numEnvs * actions * atoms)
  return (epsilon: number): void => {
    const mask = maskOrNone(environment.actionMask)
    let isGreedy = false
    for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
      const explores = epsilon > 0 && drawing.next() < epsilon
      environment.actions[envIndex] = explores ? start + randomAction(drawing, envIndex, actions, mask) : NaN
      isGreedy ||= !explores
    }
    if (!isGreedy) return
    network.forward(acting, environment.observations, numEnvs, numbers)
    method.values(numbers, numEnvs * actions, q)
    for (let envIndex = 0; envIndex < numEnvs; envIndex++)
      if (Number.isNaN(environment.actions[envIndex]))
        environment.actions[envIndex] = start + greedy(q, envIndex, actions, mask)
  }
}

/** Returns a function that calls back with the values [rows, actions] without noise, the row, and its best action. */
const createReader =
  ({ method, networks, sizes: { actions, atoms } }: LearnerParts) =>
  (
    given: Float32Array,
    count: number,
    mask: Uint8Array | undefined,
    write: (values: Float32Array, row: number, best: number) => void,
  ): void => {
    networks.quieten()
    const numbers = new Float32Array(count * actions * atoms)
    const values = new Float32Array(count * actions)
    networks.network.forward(networks.still, given, count, numbers)
    method.values(numbers, count * actions, values)
    for (let r = 0; r < count; r++) write(values, r, greedy(values, r, actions, maskOrNone(mask)))
  }

type QNetworks = ReturnType<typeof createQNetworks>

/**
 * The online network, its target and its optimiser. With noise, acting and judging use separate copies with
 * sampled noise.
 */
function createQNetworks(
  config: ReplayQConfig,
  { observation }: EnvironmentDefinition,
  { actions, atoms }: Sizes,
  random: Random,
) {
  const network = overObservations(
    observation,
    (inputs) => valueNetwork({ ...config, inputs, actions, atoms }),
    config,
  )
  const noisy = config.noisy ? noisyParameters(network.specs) : undefined
  const specs = noisy?.specs ?? network.specs
  const adam = createAdam(countParameters(specs), {
    epsilon: config.adamEpsilon,
    maxGradientNorm: config.maxGradientNorm ?? Infinity,
  })
  const parameters = createParameters(specs, random.split('parameters'), adam.own.parameters)
  const target = zeroParameters(parameters.shapes, adam.own.target)
  adam.follow(1)
  const plain = Object.fromEntries(Object.entries(network.specs).map(([name, { shape }]) => [name, shape]))
  const ownOr = (shared: ParameterSet): ParameterSet => (noisy === undefined ? shared : zeroParameters(plain))
  const acting = ownOr(parameters)
  const judging = ownOr(target)
  const still = ownOr(parameters)
  const noise = new Float32Array(noisy?.noiseSize ?? 0)
  return {
    network,
    noisy,
    adam,
    parameters,
    target,
    /** Parameters of the exploring policy, of the judge of next states, and of the policy without noise. */
    acting,
    judging,
    still,
    /** Noise of the acting network. */
    noise,
    drawNoise: (drawing: Random): void => {
      if (noisy === undefined) return
      // The target network has its own noise.
      noisy.drawNoise(drawing, noise)
      noisy.apply(target, noise, judging)
      noisy.drawNoise(drawing, noise)
      noisy.apply(parameters, noise, acting)
    },
    applyNoise: () => noisy?.apply(parameters, noise, acting),
    quieten: () => noisy?.apply(parameters, undefined, still),
  }
}

/** Gradient steps on transitions from the replay. */
async function createReplayQLearner(parts: LearnerParts) {
  const { config, method, networks, replay } = parts
  const { noisy, adam, parameters, noise } = networks
  const { gradientSteps, prioritised, batchSize: rows } = config
  // The target network does not change during an update. If sampling depends on nothing that is learned in the
  // update, the batches of several gradient steps are sampled and evaluated together, which takes a runtime a third
  // of the time.
  const isFixed = noisy === undefined && prioritised === false && !config.double
  const batched = isFixed ? largestDivisor(gradientSteps, 16) : 1
  const batch = replay.createBatch(rows * batched)
  const { atoms } = method
  const targets = new Float32Array(rows * batched * atoms)
  const feeds = partsOf(batch, targets, { rows, batched, atoms, noise })
  const objective = await compileLoss(parts, feeds[0])
  const drawer = await createDrawer(parts, batch, targets)
  return {
    /** Makes the gradient steps of one update. `done`: the share of the run that is over. */
    async update(done: number): Promise<UpdateMetrics> {
      const beta = prioritised === false ? 1 : prioritised.beta + (1 - prioritised.beta) * done
      const all = meanMetrics()
      for (let k = 0; k < gradientSteps; k++) {
        if (k % batched === 0) await drawer.draw(Math.min(1, beta))
        const trained = { objective, parameters, optimiser: adam }
        const { metrics, outputs } = await gradientStep(trained, config.learningRate, feeds[k % batched])
        if (prioritised !== false) replay.prioritise(batch, outputs.errors.data)
        all.add(metrics)
      }
      return all.mean()
    },
    async dispose() {
      await objective.dispose()
      await drawer.dispose()
    },
  }
}

/** Compiles the loss of a batch, whose inputs have the shapes of `feeds`. */
const compileLoss = (
  { method, networks: { network, noisy, adam, parameters }, sizes, threads }: LearnerParts,
  feeds: Record<string, HostTensor>,
) =>
  compileObjective({
    name: method.name,
    threads,
    gradient: adam.own.gradient,
    parameters: parameters.shapes,
    inputs: Object.fromEntries(
      Object.entries(feeds).map(([name, { shape }]): [string, InputSpec] => [name, { shape }]),
    ),
    trace(weights, inputs) {
      const used = noisy === undefined ? weights : noisy.trace(weights, inputs['noise'])
      const all = network.trace(used, inputs['observations'])
      const numbers = ofAction(all, inputs['actions'], sizes)
      const { losses, errors } = method.loss(numbers, inputs['targets'])
      return { loss: mean(mul(losses, inputs['weights'])), outputs: { errors } }
    },
  })

/** Samples batches into `batch`, and writes their targets into `targets`. */
async function createDrawer(
  { config, method, networks, replay, drawing, sizes: { actions, atoms }, threads }: LearnerParts,
  batch: ReplayBatch,
  targets: Float32Array,
) {
  const { rows } = batch
  const { network, acting, judging, drawNoise } = networks
  const next = await compileNextValues(
    network,
    { observations: batch.nextObservations, rows },
    { judge: judging, ...(config.double ? { choose: acting } : {}) },
    { name: `${method.name} next`, threads },
  )
  const q = new Float32Array(rows * actions)
  const bestNext = new Float32Array(rows * atoms)
  return {
    async draw(beta: number): Promise<void> {
      replay.sample(batch, drawing, beta)
      drawNoise(drawing)
      const { judged, chosen } = await next.run()
      method.values(chosen, rows * actions, q)
      const mask = maskOrNone(batch.nextMask)
      for (let r = 0; r < rows; r++) {
        const at = (r * actions + greedy(q, r, actions, mask, 'replayed transition')) * atoms
        for (let k = 0; k < atoms; k++) bestNext[r * atoms + k] = judged[at + k]
      }
      method.targets(batch, bestNext, targets)
    },
    dispose: () => next.dispose(),
  }
}

/** The inputs of each of the gradient steps that share a batch. */
function partsOf(
  batch: ReplayBatch,
  targets: Float32Array,
  { rows, batched, atoms, noise }: { rows: number; batched: number; atoms: number; noise: Float32Array },
): Record<string, HostTensor>[] {
  const host = (data: Float32Array, ...shape: number[]): HostTensor => ({ data, shape })
  const part = (from: Float32Array, k: number): Float32Array => {
    const size = from.length / batched
    return from.subarray(k * size, (k + 1) * size)
  }
  const width = batch.observations.length / batch.rows
  return Array.from({ length: batched }, (_, k) => ({
    observations: host(part(batch.observations, k), rows, width),
    actions: host(part(batch.actions, k), rows, 1),
    weights: host(part(batch.weights, k), rows),
    targets: host(part(targets, k), rows, atoms),
    ...(noise.length === 0 ? {} : { noise: host(noise, noise.length) }),
  }))
}

function largestDivisor(count: number, most: number): number {
  for (let divisor = Math.min(count, most); divisor > 1; divisor--) if (count % divisor === 0) return divisor
  return 1
}
