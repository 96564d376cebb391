import { type EnvironmentDefinition, rowSize, type ArraySpace } from '../../environment/index.ts'
import { compileObjective, createAdam, createParameters } from '../../../engine/nn/index.ts'
import { mlpNetwork, overObservations, windowOf } from '../../policy/index.ts'
import type { Encoder } from '../../policy/index.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { mean, square, sub } from '../../../engine/tensor/index.ts'
import { stateOfArray, stateOfParts } from '../agent.ts'
import { gradientStep } from '../gradient-step.ts'
import { type MakeBonus, recentRows, runningMoments } from './bonus.ts'

/** Options of `rnd`. */
export interface RndOptions {
  /** Transitions of an update of the predictor. Default: 128. */
  batchSize?: number
  /** Default: 1e-3. */
  learningRate?: number
  /** Discount of the bonuses, which only sets their scale. Default: 0.99. */
  gamma?: number
  /** Sizes of hidden layers. Default: two layers of 64. */
  hidden?: readonly number[]
  /** Number of predicted features. Default: 16. */
  features?: number
  /** The encoder of both networks. Default: `mlp`, which adds nothing. */
  encoder?: Encoder
}

/**
 * Random network distillation (Burda et al. 2018, arXiv:1810.12894). The bonus is the error of a network that
 * predicts the output of a fixed random network for the next observation. As in the paper, boxes are whitened and
 * clipped to 5 standard deviations, and bonuses are divided by the running standard deviation of their discounted
 * sum. Discrete observations enter one-hot. The paper's second value head, for non-episodic returns, is left out.
 */
export const rnd = (options: RndOptions = {}): MakeBonus =>
  Object.assign(makeRnd(options), { window: windowOf(options.encoder) })

const makeRnd =
  (options: RndOptions): MakeBonus =>
  async (definition, { numEnvs, seed, threads }) => {
    const { batchSize = 128, learningRate = 1e-3, gamma = 0.99, features = 16 } = options
    const width = rowSize(definition.observation)
    const { target, predictor, fixed, parameters } = createNetworks(definition, options, seed)
    const adam = createAdam(parameters.data.length)
    const objective = await compileObjective({
      name: 'rnd',
      threads,
      parameters: parameters.shapes,
      inputs: { observations: { shape: ['B', width] }, targets: { shape: ['B', features] } },
      trace: (weights, { observations, targets }) => ({
        loss: mean(square(sub(predictor.trace(weights, observations), targets))),
      }),
    })
    const most = Math.max(numEnvs, batchSize)
    const observed = whitening(definition.observation, most)
    const scale = runningMoments(1)
    const recent = recentRows(batchSize, width)
    const discounted = new Float64Array(numEnvs)
    const errors = new Float64Array(numEnvs)
    const targets = new Float32Array(most * features)
    const predictions = new Float32Array(most * features)

    function measure(next: Float32Array, rows: number, out: Float64Array): void {
      const white = observed.whiten(next, rows)
      target.forward(fixed, white, rows, targets)
      predictor.forward(parameters, white, rows, predictions)
      for (let r = 0; r < rows; r++) {
        let sum = 0
        for (let k = r * features; k < (r + 1) * features; k++) sum += (predictions[k] - targets[k]) ** 2
        out[r] = sum / features
      }
    }

    return {
      bonus(_observations, _actions, next, rows, out) {
        measure(next, rows, out)
        const deviation = scale.deviation(0) + 1e-8
        for (let r = 0; r < rows; r++) out[r] /= deviation
      },
      async learn(_observations, _actions, next, rows) {
        measure(next, rows, errors)
        for (let r = 0; r < rows; r++) discounted[r] = gamma * discounted[r] + errors[r]
        scale.update(discounted, rows)
        observed.update(next, rows)
        if (!recent.add(next, rows)) return undefined
        recent.clear()
        const white = observed.whiten(recent.data, batchSize)
        target.forward(fixed, white, batchSize, targets)
        const { metrics } = await gradientStep({ objective, parameters, optimiser: adam }, learningRate, {
          observations: { data: white, shape: [batchSize, width] },
          targets: { data: targets.subarray(0, batchSize * features), shape: [batchSize, features] },
        })
        const { loss: rndLoss, gradientNorm: _, ...wrong } = metrics
        return { rndLoss, ...wrong }
      },
      ...stateOfParts({
        target: stateOfArray(fixed.data),
        parameters: stateOfArray(parameters.data),
        adam,
        observed,
        scale,
        recent,
        discounted: stateOfArray(discounted),
      }),
      dispose: () => objective.dispose(),
    }
  }

/** The fixed random network and the one that learns to predict it. */
function createNetworks(
  { observation }: EnvironmentDefinition,
  { hidden = [64, 64], features = 16, encoder }: RndOptions,
  seed: number,
) {
  const network = () =>
    overObservations(
      observation,
      (inputs) => mlpNetwork({ inputs, hidden, outputs: features, activation: 'relu' }),
      { encoder },
    )
  const target = network()
  const predictor = network()
  const random = createRandom('rnd', seed)
  return {
    target,
    predictor,
    fixed: createParameters(target.specs, random.split('target')),
    parameters: createParameters(predictor.specs, random.split('predictor')),
  }
}

/** Running moments of observations, with a buffer for `most` whitened rows. */
function whitening(space: ArraySpace, most: number) {
  const width = rowSize(space)
  const moments = runningMoments(width)
  const white = new Float32Array(most * width)
  return {
    ...moments,
    /**
     * Returns the rows normalised by mean and standard deviation, clipped to [-5, 5]. Discrete observations stay
     * unchanged.
     */
    whiten(from: Float32Array, rows: number): Float32Array {
      const to = white.subarray(0, rows * width)
      if (space.type !== 'box') {
        to.set(from.subarray(0, rows * width))
        return to
      }
      for (let c = 0; c < width; c++) {
        const deviation = moments.deviation(c) + 1e-8
        for (let i = c; i < rows * width; i += width)
          to[i] = Math.max(-5, Math.min(5, (from[i] - moments.mean[c]) / deviation))
      }
      return to
    },
  }
}
