import { type EnvironmentDefinition, rowSize, type ArraySpace } from '../../environment/index.ts'
import { compileObjective, createAdam, createParameters } from '../../../engine/nn/index.ts'
import type { ParameterSet } from '../../../engine/nn/index.ts'
import { distributionFor, mlpNetwork, overObservations, windowOf } from '../../policy/index.ts'
import type { Encoder } from '../../policy/index.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { stateOfArray, stateOfParts } from '../agent.ts'
import { gradientStep } from '../gradient-step.ts'
import { add, concat, mean, mul, neg, square, stopGradient, sub, sum } from '../../../engine/tensor/index.ts'
import { type MakeBonus, recentRows } from './bonus.ts'

/** Options of `icm`. */
export interface IcmOptions {
  /** Transitions of an update. Default: 128. */
  batchSize?: number
  /** Default: 1e-3. */
  learningRate?: number
  /** Weight of the forward model's loss; the inverse model's has 1 - beta. Default: 0.2, as in the paper. */
  beta?: number
  /** Sizes of hidden layers. Default: one layer of 64. */
  hidden?: readonly number[]
  /** Number of learned features. Default: 16. */
  features?: number
  /** The encoder of observations, before these layers. Default: `mlp`, which adds nothing. */
  agentEncoder?: Encoder
}

/**
 * Intrinsic curiosity module (Pathak et al. 2017, arXiv:1705.05363). A forward model predicts the features of the
 * next observation from features and action. The bonus is half the squared error. An inverse model trains the
 * features to predict the action taken, so that they leave out what the agent cannot influence. Its loss is the
 * squared error for continuous actions.
 */
export const icm = (options: IcmOptions = {}): MakeBonus =>
  Object.assign(makeIcm(options), { window: windowOf(options.agentEncoder) })

const makeIcm =
  (options: IcmOptions): MakeBonus =>
  async (definition, { numEnvs, seed, threads }) => {
    const { batchSize = 128, learningRate = 1e-3, beta = 0.2 } = options
    const networks = createNetworks(definition, options)
    const { encoder, forward, width, actionSize, codeSize, features } = networks
    const specs = { ...encoder.specs, ...networks.inverse.specs, ...forward.specs }
    const parameters = createParameters(specs, createRandom('icm', seed).split('parameters'))
    const adam = createAdam(parameters.data.length)
    const objective = await compileIcm(networks, { parameters, beta, threads })
    const recent = {
      observations: recentRows(batchSize, width),
      actions: recentRows(batchSize, actionSize),
      next: recentRows(batchSize, width),
    }
    const codes = new Float32Array(Math.max(numEnvs, batchSize) * codeSize)
    const now = new Float32Array(numEnvs * features)
    const following = new Float32Array(numEnvs * features)
    const predicted = new Float32Array(numEnvs * features)
    const joined = new Float32Array(numEnvs * (features + codeSize))
    return {
      bonus(observations, actions, next, rows, out) {
        encoder.forward(parameters, observations, rows, now)
        encoder.forward(parameters, next, rows, following)
        encodeActions(definition.action, actions, rows, codes)
        for (let r = 0; r < rows; r++) {
          joined.set(now.subarray(r * features, (r + 1) * features), r * (features + codeSize))
          joined.set(codes.subarray(r * codeSize, (r + 1) * codeSize), r * (features + codeSize) + features)
        }
        forward.forward(parameters, joined, rows, predicted)
        for (let r = 0; r < rows; r++) {
          let distance = 0
          for (let k = r * features; k < (r + 1) * features; k++)
            distance += (predicted[k] - following[k]) ** 2
          out[r] = distance / 2
        }
      },
      async learn(observations, actions, next, rows) {
        recent.observations.add(observations, rows)
        recent.actions.add(actions, rows)
        if (!recent.next.add(next, rows)) return undefined
        for (const part of Object.values(recent)) part.clear()
        encodeActions(definition.action, recent.actions.data, batchSize, codes)
        const { metrics } = await gradientStep({ objective, parameters, optimiser: adam }, learningRate, {
          observations: { data: recent.observations.data, shape: [batchSize, width] },
          actions: { data: recent.actions.data, shape: [batchSize, actionSize] },
          codes: { data: codes.subarray(0, batchSize * codeSize), shape: [batchSize, codeSize] },
          nextObservations: { data: recent.next.data, shape: [batchSize, width] },
        })
        const { loss: _, gradientNorm: __, inverseLoss, forwardLoss, ...wrong } = metrics
        return { icmInverse: inverseLoss, icmForward: forwardLoss, ...wrong }
      },
      ...stateOfParts({
        parameters: stateOfArray(parameters.data),
        adam,
        recent: {
          state: () => Object.values(recent).map((part) => part.state()),
          restore: (saved) =>
            Object.values(recent).forEach((part, i) => part.restore((saved as unknown[])[i])),
        },
      }),
      dispose: () => objective.dispose(),
    }
  }

type Networks = ReturnType<typeof createNetworks>

function createNetworks(
  definition: EnvironmentDefinition,
  { hidden = [64], features = 16, agentEncoder }: IcmOptions,
) {
  const { action, observation } = definition
  const actionSize = rowSize(action)
  const distribution = distributionFor(definition)
  const isBox = action.type === 'box'
  // The forward model sees a discrete action one-hot, and other actions as they are.
  const codeSize = action.type === 'discrete' ? action.n : actionSize
  const of = (prefix: string, inputs: number, outputs: number) =>
    mlpNetwork({ inputs, hidden, outputs, activation: 'relu', prefix })
  return {
    distribution,
    isBox,
    width: rowSize(observation),
    actionSize,
    codeSize,
    features,
    encoder: overObservations(observation, (inputs) => of('encoder.', inputs, features), {
      encoder: agentEncoder,
      prefix: 'encoder.',
    }),
    inverse: of('inverse.', 2 * features, isBox ? actionSize : distribution.parameters),
    forward: of('forward.', features + codeSize, features),
  }
}

/** Compiles (1 - beta) times the loss of the inverse model plus beta times that of the forward model. */
const compileIcm = (
  networks: Networks,
  { parameters, beta, threads }: { parameters: ParameterSet; beta: number; threads: number },
) => {
  const { distribution, isBox, encoder, inverse, forward, width, actionSize, codeSize } = networks
  return compileObjective({
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
      const taken = inverse.trace(weights, concat([now, next], 1))
      const inverseLoss = isBox
        ? mean(sum(square(sub(taken, actions)), { axes: [-1] }))
        : neg(mean(distribution.logprob(taken, actions)))
      const predicted = forward.trace(weights, concat([stopGradient(now), codes], 1))
      const forwardLoss = mul(mean(sum(square(sub(predicted, stopGradient(next))), { axes: [-1] })), 0.5)
      return {
        loss: add(mul(inverseLoss, 1 - beta), mul(forwardLoss, beta)),
        outputs: { inverseLoss, forwardLoss },
      }
    },
  })
}

/** Writes actions as the forward model sees them: discrete ones one-hot. */
function encodeActions(space: ArraySpace, actions: Float32Array, rows: number, codes: Float32Array): void {
  if (space.type !== 'discrete') return codes.set(actions.subarray(0, rows * rowSize(space)))
  codes.fill(0)
  for (let r = 0; r < rows; r++) codes[r * space.n + actions[r] - space.start] = 1
}
