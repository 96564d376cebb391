import {
  type Activation,
  compileObjective,
  countParameters,
  createAdam,
  createParameters,
  zeroParameters,
} from '../../../engine/nn/index.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { type HostTensor, type InputSpec, mean, mul, type Tensor } from '../../../engine/tensor/index.ts'
import { rowSize } from '../../environment/index.ts'
import { type Encoder, noisyParameters, overObservations, valueNetwork } from '../../policy/index.ts'
import { createReplay, type ReplayBatch } from '../../replay/replay.ts'
import {
  type ClassicAlgorithm,
  stateOfArray,
  stateOfParts,
  stateOfValue,
  type UpdateMetrics,
} from '../agent.ts'
import { checkSettings } from '../check-settings.ts'
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
} from './action-values.ts'

// Not the index, whose store needs Node: this runs in browsers too.
/** What all methods that learn action values from a replay have in common. Steps count over all slots. */
export interface ReplayQConfig extends EpsilonSchedule {
  learningRate: number
  adamEpsilon: number
  /** Longer gradients are brought down to this norm; null for never (settings are stored as JSON, which has no Infinity). */
  maxGradientNorm: number | null
  gamma: number
  /** Transitions that are kept, and drawn for one gradient step. */
  bufferSize: number
  batchSize: number
  /** Steps before the first update. */
  learningStarts: number
  /** Every so many steps come `gradientSteps` updates. */
  trainEvery: number
  gradientSteps: number
  /** Every so many steps the target network moves towards the other by the share `tau`. */
  targetEvery: number
  tau: number
  hidden: readonly number[]
  activation: Activation
  /** Default `mlp`. */
  encoder?: Encoder
  /** The action of the next state is chosen by the network that learns, not the target (van Hasselt et al. 2016). */
  double: boolean
  /** A stream for the value and one for advantages (Wang et al. 2016). */
  dueling: boolean
  /** Learned noise on the weights explores instead of epsilon (Fortunato et al. 2018). */
  noisy: boolean
  /** Draws by error to the power of alpha; beta rises to 1 in a straight line (Schaul et al. 2016). */
  prioritised: false | { alpha: number; beta: number }
  /** Rewards before the bootstrap (Sutton 1988). */
  nSteps: number
}

/** What makes a method: what it says of an action, and what that should have been. */
export interface ValueMethod {
  name: string
  /** Numbers that the network gives for an action. */
  atoms: number
  /** One value for each of `count` actions out of their numbers [count, atoms]. */
  values(numbers: Float32Array, count: number, to: Float32Array): void
  /** Targets [rows, atoms] out of what the target network says of the best next action, `next` [rows, atoms]. */
  targets(batch: ReplayBatch, next: Float32Array, to: Float32Array): void
  /** Traced: of numbers and targets [B, atoms], the loss [B] and the error [B] that gives priority. */
  loss(numbers: Tensor, targets: Tensor): { losses: Tensor; errors: Tensor }
}

/**
 * Q-learning with a neural network from replayed transitions, against a target network (Mnih et al. 2015), for any
 * `method`. Truncated episodes are bootstrapped from their last observation. Masked actions are neither taken nor
 * maximised over.
 */
export const replayQLearning = (config: ReplayQConfig, method: ValueMethod): ClassicAlgorithm =>
  overWindow(checkSettings(config).encoder, async (environment, { seed, totalSteps, threads = 1 }) => {
    const { definition, observations } = environment
    const { n: actions, start } = discreteActions(definition, method.name)
    const { atoms } = method
    const numEnvs = environment.numEnvs.count
    const width = rowSize(definition.observation)
    const network = overObservations(
      definition.observation,
      (inputs) => valueNetwork({ ...config, inputs, actions, atoms }),
      config,
    )
    const noisy = config.noisy ? noisyParameters(network.specs) : undefined
    const specs = noisy?.specs ?? network.specs
    const random = createRandom(method.name, seed)
    const adam = createAdam(countParameters(specs), {
      epsilon: config.adamEpsilon,
      maxGradientNorm: config.maxGradientNorm ?? Infinity,
    })
    const parameters = createParameters(specs, random.split('parameters'), adam.own.parameters)
    const shapesOf = (all: typeof specs): Record<string, readonly number[]> =>
      Object.fromEntries(Object.entries(all).map(([name, { shape }]) => [name, shape]))
    const target = zeroParameters(shapesOf(specs), adam.own.target)
    adam.follow(1)
    const plain = shapesOf(network.specs)
    // With noise the networks that act and judge are draws of their own; without, the parameters themselves.
    const acting = noisy === undefined ? parameters : zeroParameters(plain)
    const judging = noisy === undefined ? target : zeroParameters(plain)
    const still = noisy === undefined ? parameters : zeroParameters(plain)
    const noise = new Float32Array(noisy?.noiseSize ?? 0)
    const drawing = random.split('draws')
    const { prioritised } = config
    const replay = createReplay(environment, {
      capacity: config.bufferSize,
      gamma: config.gamma,
      nSteps: config.nSteps,
      ...(prioritised === false ? {} : { alpha: prioritised.alpha }),
    })

    const rows = config.batchSize
    // The target network stands still during an update: where drawing depends on nothing that is learned meanwhile, the
    // batches of several gradient steps are drawn and judged together, which a runtime does in a third of the time.
    const isFixed = noisy === undefined && prioritised === false && !config.double
    const batched = isFixed ? largestDivisor(config.gradientSteps, 16) : 1
    const drawn = rows * batched
    const batch = replay.createBatch(drawn)
    const targets = new Float32Array(drawn * atoms)
    const host = (data: Float32Array, ...shape: number[]): HostTensor => ({ data, shape })
    const part = (from: Float32Array, k: number): Float32Array => {
      const size = from.length / batched
      return from.subarray(k * size, (k + 1) * size)
    }
    /** What each gradient step is fed. */
    const parts = Array.from({ length: batched }, (_, k) => ({
      observations: host(part(batch.observations, k), rows, width),
      actions: host(part(batch.actions, k), rows, 1),
      weights: host(part(batch.weights, k), rows),
      targets: host(part(targets, k), rows, atoms),
      ...(noisy === undefined ? {} : { noise: host(noise, noise.length) }),
    }))
    const objective = await compileObjective({
      name: method.name,
      threads,
      gradient: adam.own.gradient,
      parameters: shapesOf(specs),
      inputs: Object.fromEntries(
        Object.entries(parts[0]).map(([name, { shape }]): [string, InputSpec] => [name, { shape }]),
      ),
      trace(weights, inputs) {
        const used = noisy === undefined ? weights : noisy.trace(weights, inputs['noise'])
        const all = network.trace(used, inputs['observations'])
        const numbers = ofAction(all, inputs['actions'], { actions, atoms, start })
        const { losses, errors } = method.loss(numbers, inputs['targets'])
        return { loss: mean(mul(losses, inputs['weights'])), outputs: { errors } }
      },
    })
    const next = await compileNextValues(
      network,
      { observations: batch.nextObservations, rows: drawn },
      { judge: judging, ...(config.double ? { choose: acting } : {}) },
      { name: `${method.name} next`, threads },
    )
    const q = new Float32Array(Math.max(drawn, numEnvs) * actions)
    const numbers = new Float32Array(numEnvs * actions * atoms)
    const bestNext = new Float32Array(drawn * atoms)
    let seen = 0

    function drawNoise(): void {
      if (noisy === undefined) return
      // The target's noise is drawn apart from that of the network that acts and learns.
      noisy.drawNoise(drawing, noise)
      noisy.apply(target, noise, judging)
      noisy.drawNoise(drawing, noise)
      noisy.apply(parameters, noise, acting)
    }

    /** Draws the batches of the next gradient steps, and what they are to learn. */
    async function draw(beta: number): Promise<void> {
      replay.sample(batch, drawing, beta)
      drawNoise()
      const { judged, chosen } = await next.run()
      method.values(chosen, drawn * actions, q)
      const mask = maskOrNone(batch.nextMask)
      for (let r = 0; r < drawn; r++) {
        const at = (r * actions + greedy(q, r, actions, mask, 'replayed transition')) * atoms
        for (let k = 0; k < atoms; k++) bestNext[r * atoms + k] = judged[at + k]
      }
      method.targets(batch, bestNext, targets)
    }

    async function gradientStep(feeds: (typeof parts)[number]) {
      const { loss, outputs } = await objective.evaluate(parameters, feeds)
      const gradientNorm = adam.step(parameters.data, objective.gradient.data, config.learningRate)
      if (prioritised !== false) replay.prioritise(batch, outputs.errors.data)
      return { loss, gradientNorm }
    }

    async function update(): Promise<UpdateMetrics> {
      const beta = prioritised === false ? 1 : prioritised.beta + (1 - prioritised.beta) * (seen / totalSteps)
      let loss = 0
      let gradientNorm = 0
      for (let k = 0; k < config.gradientSteps; k++) {
        if (k % batched === 0) await draw(Math.min(1, beta))
        const found = await gradientStep(parts[k % batched])
        loss += found.loss / config.gradientSteps
        gradientNorm += found.gradientNorm / config.gradientSteps
      }
      drawNoise()
      return { loss, gradientNorm, epsilon: epsilonNow() }
    }

    const epsilonNow = (): number => (config.noisy ? 0 : epsilonAt(config, seen, totalSteps))
    /** How often the steps of the last call passed a multiple of `every`. */
    const passed = (every: number): number => Math.floor(seen / every) - Math.floor((seen - numEnvs) / every)
    drawNoise()

    return {
      act() {
        const epsilon = epsilonNow()
        const mask = maskOrNone(environment.actionMask)
        let isGreedy = false
        for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
          const explores = epsilon > 0 && drawing.next() < epsilon
          environment.actions[envIndex] = explores
            ? start + randomAction(drawing, envIndex, actions, mask)
            : NaN
          isGreedy ||= !explores
        }
        if (isGreedy) {
          network.forward(acting, observations, numEnvs, numbers)
          method.values(numbers, numEnvs * actions, q)
          for (let envIndex = 0; envIndex < numEnvs; envIndex++)
            if (Number.isNaN(environment.actions[envIndex]))
              environment.actions[envIndex] = start + greedy(q, envIndex, actions, mask)
        }
        replay.acted()
      },
      learn() {
        replay.stepped()
        seen += numEnvs
        const due = passed(config.trainEvery)
        const moves = passed(config.targetEvery) > 0
        if (due === 0 || seen <= config.learningStarts || replay.size === 0) {
          // One draw of noise for the whole beginning would be one policy.
          if (due > 0) drawNoise()
          if (moves) adam.follow(config.tau)
          return undefined
        }
        return learnNow(due, moves)
      },
      predict(given, count, to, mask) {
        noisy?.apply(parameters, undefined, still)
        judge(given, count, (values, r) => {
          to[r] = start + greedy(values, r, actions, maskOrNone(mask))
        })
      },
      values(given, count, to, mask) {
        noisy?.apply(parameters, undefined, still)
        judge(given, count, (values, r) => {
          to[r] = values[r * actions + greedy(values, r, actions, maskOrNone(mask))]
        })
      },
      ...stateOfParts({
        parameters: stateOfArray(parameters.data),
        target: stateOfArray(target.data),
        adam,
        replay,
        random: drawing,
        noise: stateOfArray(noise),
        seen: stateOfValue(
          () => seen,
          (value) => {
            seen = value
            // Parameters and noise are those that were saved by now.
            noisy?.apply(parameters, noise, acting)
          },
        ),
      }),
      async dispose() {
        await objective.dispose()
        await next.dispose()
      },
    }

    async function learnNow(due: number, moves: boolean): Promise<UpdateMetrics> {
      let metrics = await update()
      for (let k = 1; k < due; k++) metrics = await update()
      if (moves) adam.follow(config.tau)
      return metrics
    }

    function judge(given: Float32Array, count: number, each: (q: Float32Array, row: number) => void): void {
      const all = new Float32Array(count * actions * atoms)
      const values = new Float32Array(count * actions)
      network.forward(still, given, count, all)
      method.values(all, count * actions, values)
      for (let r = 0; r < count; r++) each(values, r)
    }
  })

function largestDivisor(count: number, most: number): number {
  for (let divisor = Math.min(count, most); divisor > 1; divisor--) if (count % divisor === 0) return divisor
  return 1
}
