import { type Activation, compileObjective, createParameters, createRAdam } from '../../../engine/nn/index.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { mean, reshape, square, sub } from '../../../engine/tensor/index.ts'
import { gae } from '../../../returns/gae.ts'
import { requireSameStep, rowSize } from '../../environment/index.ts'
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
  stateOfParts,
  stateOfValue,
  type UpdateMetrics,
} from '../agent.ts'
import { checkMinibatches, checkSettings } from '../check-settings.ts'
import { overWindow } from '../wrap-algorithm.ts'

export interface PqnConfig extends EpsilonSchedule {
  /** Steps of each slot between updates. */
  rolloutSteps: number
  epochs: number
  minibatches: number
  learningRate: number
  /** The learning rate falls to 0 in a straight line. */
  anneal: boolean
  gamma: number
  lambda: number
  maxGradientNorm: number | null
  hidden: readonly number[]
  activation: Activation
  /** Default `mlp`. */
  encoder?: Encoder
}

/** Settings of published runs, by where they come from. `slots` is how many environments they use. */
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
 * Parallelised Q-network (Gallici et al. 2024, arXiv:2407.04811): Q-learning without replay or target network, on
 * rollouts of many slots, made stable by layer normalisation; targets are Q(lambda) returns, bootstrapped where an
 * episode was only truncated. Rectified Adam, as the authors and CleanRL have it.
 */
export const pqn = (config: PqnConfig): ClassicAlgorithm =>
  overWindow(checkSettings(config).encoder, async (environment, { seed, totalSteps, threads = 1 }) => {
    const { definition, observations } = environment
    requireSameStep(environment, 'pqn')
    const { n: actions, start } = discreteActions(definition, 'pqn')
    const numEnvs = environment.numEnvs.count
    const width = rowSize(definition.observation)
    const steps = config.rolloutSteps
    const rows = numEnvs * steps
    checkMinibatches(config.minibatches, rows)
    const { hidden, activation } = config
    const network = overObservations(
      definition.observation,
      (inputs) =>
        valueNetwork({ inputs, hidden, activation, actions, layerNorm: true, initialise: 'orthogonal' }),
      config,
    )
    const random = createRandom('pqn', seed)
    const parameters = createParameters(network.specs, random.split('parameters'))
    const drawing = random.split('draws')
    const optimiser = createRAdam(parameters.data.length, {
      maxGradientNorm: config.maxGradientNorm ?? Infinity,
    })
    const objective = await compileObjective({
      name: 'pqn',
      threads,
      parameters: parameters.shapes,
      inputs: {
        observations: { shape: ['B', width] },
        actions: { shape: ['B', 1] },
        returns: { shape: ['B'] },
      },
      trace(weights, inputs) {
        const all = network.trace(weights, inputs['observations'])
        const taken = ofAction(all, inputs['actions'], { actions, atoms: 1, start })
        return { loss: mean(square(sub(reshape(taken, ['B']), inputs['returns']))) }
      },
    })

    /** Row `slot * steps + t` of each. */
    const storage = {
      observations: new Float32Array(rows * width),
      actions: new Float32Array(rows),
      values: new Float32Array(rows),
      nextValues: new Float32Array(rows),
      rewards: new Float32Array(rows),
      terminated: new Uint8Array(rows),
      truncated: new Uint8Array(rows),
      order: Int32Array.from({ length: rows }, (_, i) => i),
    }
    const returns = new Float32Array(rows)
    const size = Math.ceil(rows / config.minibatches)
    const batch = {
      observations: new Float32Array(size * width),
      actions: new Float32Array(size),
      returns: new Float32Array(size),
    }
    const q = new Float32Array(numEnvs * actions)
    let t = 0
    let seen = 0
    /** Values of what follows step t - 1 are known at step t, before its update. */
    const best = (from: Float32Array, row: number, mask: Uint8Array | undefined): number =>
      from[row * actions + greedy(from, row, actions, mask)]

    function makeReturns(): void {
      for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
        const part = <A extends Float32Array | Uint8Array>(array: A): A =>
          array.subarray(envIndex * steps, (envIndex + 1) * steps) as A
        const { rewards, values, nextValues, terminated, truncated } = storage
        const found = gae(
          {
            rewards: part(rewards),
            values: part(values),
            nextValues: part(nextValues),
            terminated: part(terminated),
            truncated: part(truncated),
          },
          config,
        )
        // With the greatest values as those of the states, GAE plus value is the Q(lambda) return.
        returns.set(found.returns, envIndex * steps)
      }
    }

    function fill(from: number, count: number): void {
      for (let i = 0; i < count; i++) {
        const row = storage.order[from + i]
        for (let k = 0; k < width; k++)
          batch.observations[i * width + k] = storage.observations[row * width + k]
        batch.actions[i] = storage.actions[row]
        batch.returns[i] = returns[row]
      }
    }

    async function update(): Promise<UpdateMetrics> {
      makeReturns()
      const learningRate = config.learningRate * (config.anneal ? 1 - (seen - rows) / totalSteps : 1)
      let loss = 0
      let gradientNorm = 0
      let count = 0
      for (let epoch = 0; epoch < config.epochs; epoch++) {
        for (let i = rows - 1; i > 0; i--) {
          const j = drawing.int(i + 1)
          const held = storage.order[i]
          storage.order[i] = storage.order[j]
          storage.order[j] = held
        }
        for (let from = 0; from < rows; from += size, count++) {
          const length = Math.min(size, rows - from)
          fill(from, length)
          const found = await objective.evaluate(parameters, {
            observations: { data: batch.observations.subarray(0, length * width), shape: [length, width] },
            actions: { data: batch.actions.subarray(0, length), shape: [length, 1] },
            returns: { data: batch.returns.subarray(0, length), shape: [length] },
          })
          loss += found.loss
          gradientNorm += optimiser.step(parameters.data, objective.gradient.data, learningRate)
        }
      }
      t = 0
      return {
        loss: loss / count,
        gradientNorm: gradientNorm / count,
        epsilon: epsilonAt(config, seen, totalSteps),
      }
    }

    return {
      act() {
        const epsilon = epsilonAt(config, seen, totalSteps)
        const mask = maskOrNone(environment.actionMask)
        network.forward(parameters, observations, numEnvs, q)
        for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
          const row = envIndex * steps + t
          const explores = drawing.next() < epsilon
          const greedyAction = greedy(q, envIndex, actions, mask)
          const action = start + (explores ? randomAction(drawing, envIndex, actions, mask) : greedyAction)
          environment.actions[envIndex] = action
          storage.actions[row] = action
          storage.values[row] = q[envIndex * actions + greedyAction]
          // Where an episode goes on, what this step sees is what the last one led to.
          if (t > 0 && storage.terminated[row - 1] + storage.truncated[row - 1] === 0)
            storage.nextValues[row - 1] = storage.values[row]
          for (let k = 0; k < width; k++)
            storage.observations[row * width + k] = observations[envIndex * width + k]
        }
      },
      learn() {
        seen += numEnvs
        const { rewards, terminated, truncated, finalObservations } = environment
        let cut = false
        for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
          const row = envIndex * steps + t
          storage.rewards[row] = rewards[envIndex]
          storage.terminated[row] = terminated[envIndex]
          storage.truncated[row] = truncated[envIndex]
          cut ||= truncated[envIndex] === 1 && terminated[envIndex] === 0
        }
        const full = ++t === steps
        if (cut) bootstrap(finalObservations, environment.finalActionMask, 1)
        if (!full) return undefined
        bootstrap(observations, environment.actionMask, 0)
        return update()
      },
      predict(given, count, to, mask) {
        const values = new Float32Array(count * actions)
        network.forward(parameters, given, count, values)
        for (let r = 0; r < count; r++) to[r] = start + greedy(values, r, actions, maskOrNone(mask))
      },
      values(given, count, to, mask) {
        const values = new Float32Array(count * actions)
        network.forward(parameters, given, count, values)
        for (let r = 0; r < count; r++) to[r] = best(values, r, maskOrNone(mask))
      },
      ...stateOfParts({
        parameters: stateOfArray(parameters.data),
        optimiser,
        random: drawing,
        storage: stateOfParts(
          Object.fromEntries(Object.entries(storage).map(([name, array]) => [name, stateOfArray(array)])),
        ),
        t: stateOfValue(
          () => t,
          (value) => (t = value),
        ),
        seen: stateOfValue(
          () => seen,
          (value) => (seen = value),
        ),
      }),
      dispose: () => objective.dispose(),
    }

    /** Values after the last step, in the slots whose episode was then cut off (1) or went on (0). */
    function bootstrap(from: Float32Array, masks: Uint8Array, truncated: 0 | 1): void {
      network.forward(parameters, from, numEnvs, q)
      const mask = maskOrNone(masks)
      for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
        const row = envIndex * steps + t - 1
        if (storage.terminated[row] === 0 && storage.truncated[row] === truncated)
          storage.nextValues[row] = best(q, envIndex, mask)
      }
    }
  })
