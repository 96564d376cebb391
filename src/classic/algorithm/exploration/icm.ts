import { rowSize } from '../../environment/index.ts'
import { compileObjective, createAdam, createParameters } from '../../../engine/nn/index.ts'
import type { AdamState } from '../../../engine/nn/index.ts'
import { distributionFor, mlpNetwork, overObservations, windowOf } from '../../policy/index.ts'
import type { Encoder } from '../../policy/index.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { gradientStep } from '../gradient-step.ts'
import { add, concat, mean, mul, neg, square, stopGradient, sub, sum } from '../../../engine/tensor/index.ts'
import { type MakeBonus, recentRows } from './bonus.ts'

export interface IcmOptions {
  /** Transitions of an update. Default 128. */
  batchSize?: number
  /** Default 1e-3. */
  learningRate?: number
  /** Weight of the forward model's loss against the inverse model's. Default 0.2, as in the paper. */
  beta?: number
  /** Default one layer of 64. */
  hidden?: readonly number[]
  /** Numbers of the learned features. Default 16. */
  features?: number
  /** What stands before the layers of the encoder of observations. Default `mlp`: nothing. */
  agentEncoder?: Encoder
}

/**
 * Intrinsic curiosity module (Pathak et al. 2017, arXiv:1705.05363): how badly the features of the next observation are
 * predicted from features and action, half the squared distance. Features are trained only to tell which action was
 * taken, so that what the agent cannot act on does not count. Continuous actions are told by their squared error.
 */
export const icm = (options: IcmOptions = {}): MakeBonus =>
  Object.assign(makeIcm(options), { window: windowOf(options.agentEncoder) })

const makeIcm =
  (options: IcmOptions): MakeBonus =>
  async (definition, { numEnvs, seed, threads }) => {
    const {
      batchSize = 128,
      learningRate = 1e-3,
      beta = 0.2,
      hidden = [64],
      features = 16,
      agentEncoder,
    } = options
    const { action } = definition
    const width = rowSize(definition.observation)
    const actionSize = rowSize(action)
    const distribution = distributionFor(definition)
    const isBox = action.type === 'box'
    const choices = action.type === 'discrete' ? action.n : undefined
    // a single choice is told the forward model as one of n, other actions as they are
    const codeSize = choices ?? actionSize
    const of = (prefix: string, inputs: number, outputs: number) =>
      mlpNetwork({ inputs, hidden, outputs, activation: 'relu', prefix })
    const encoder = overObservations(definition.observation, (inputs) => of('encoder.', inputs, features), {
      encoder: agentEncoder,
      prefix: 'encoder.',
    })
    const inverse = of('inverse.', 2 * features, isBox ? actionSize : distribution.parameters)
    const forward = of('forward.', features + codeSize, features)
    const random = createRandom('icm', seed)
    const specs = { ...encoder.specs, ...inverse.specs, ...forward.specs }
    const parameters = createParameters(specs, random.split('parameters'))
    const adam = createAdam(parameters.data.length)
    const objective = await compileObjective({
      name: 'icm',
      threads,
      parameters: parameters.shapes,
      inputs: {
        observations: { shape: ['B', width] },
        actions: { shape: ['B', actionSize] },
        codes: { shape: ['B', codeSize] },
        nextObservations: { shape: ['B', width] },
      },
      trace(weights, { observations, actions, codes, nextObservations }) {
        const [now, next] = [observations, nextObservations].map((x) => encoder.trace(weights, x))
        const readOnly = inverse.trace(weights, concat([now, next], 1))
        const inverseLoss = isBox
          ? mean(sum(square(sub(readOnly, actions)), { axes: [-1] }))
          : neg(mean(distribution.logprob(readOnly, actions)))
        const foretold = forward.trace(weights, concat([stopGradient(now), codes], 1))
        const forwardLoss = mul(mean(sum(square(sub(foretold, stopGradient(next))), { axes: [-1] })), 0.5)
        return {
          loss: add(mul(inverseLoss, 1 - beta), mul(forwardLoss, beta)),
          outputs: { inverseLoss, forwardLoss },
        }
      },
    })
    const recent = {
      observations: recentRows(batchSize, width),
      actions: recentRows(batchSize, actionSize),
      next: recentRows(batchSize, width),
    }
    const most = Math.max(numEnvs, batchSize)
    const codes = new Float32Array(most * codeSize)
    const now = new Float32Array(numEnvs * features)
    const following = new Float32Array(numEnvs * features)
    const foretold = new Float32Array(numEnvs * features)
    const joined = new Float32Array(numEnvs * (features + codeSize))

    function encode(actions: Float32Array, rows: number): void {
      if (action.type !== 'discrete') return codes.set(actions.subarray(0, rows * actionSize))
      codes.fill(0)
      for (let r = 0; r < rows; r++) codes[r * codeSize + actions[r] - action.start] = 1
    }

    return {
      bonus(observations, actions, next, rows, out) {
        encoder.forward(parameters, observations, rows, now)
        encoder.forward(parameters, next, rows, following)
        encode(actions, rows)
        for (let r = 0; r < rows; r++) {
          joined.set(now.subarray(r * features, (r + 1) * features), r * (features + codeSize))
          joined.set(codes.subarray(r * codeSize, (r + 1) * codeSize), r * (features + codeSize) + features)
        }
        forward.forward(parameters, joined, rows, foretold)
        for (let r = 0; r < rows; r++) {
          let distance = 0
          for (let k = r * features; k < (r + 1) * features; k++)
            distance += (foretold[k] - following[k]) ** 2
          out[r] = distance / 2
        }
      },
      async learn(observations, actions, next, rows) {
        recent.observations.add(observations, rows)
        recent.actions.add(actions, rows)
        if (!recent.next.add(next, rows)) return undefined
        for (const part of Object.values(recent)) part.clear()
        encode(recent.actions.data, batchSize)
        const { metrics } = await gradientStep({ objective, parameters, optimiser: adam }, learningRate, {
          observations: { data: recent.observations.data, shape: [batchSize, width] },
          actions: { data: recent.actions.data, shape: [batchSize, actionSize] },
          codes: { data: codes.subarray(0, batchSize * codeSize), shape: [batchSize, codeSize] },
          nextObservations: { data: recent.next.data, shape: [batchSize, width] },
        })
        const { loss: _, gradientNorm: __, inverseLoss, forwardLoss, ...wrong } = metrics
        return { icmInverse: inverseLoss, icmForward: forwardLoss, ...wrong }
      },
      state: () => ({
        parameters: parameters.data.slice(),
        adam: adam.state(),
        recent: Object.values(recent).map((part) => part.state()),
      }),
      restore(saved) {
        const state = saved as { parameters: Float32Array; adam: AdamState; recent: unknown[] }
        parameters.data.set(state.parameters)
        adam.restore(state.adam)
        for (const [i, part] of Object.values(recent).entries()) part.restore(state.recent[i])
      },
      dispose: () => objective.dispose(),
    }
  }
