import {
  type Activation,
  compileObjective,
  createAdam,
  createParameters,
  moveTowards,
  zeroParameters,
} from '../../../engine/nn/index.ts'
import { createRandom } from '../../../engine/random/index.ts'
import {
  add,
  cast,
  exp,
  type HostTensor,
  logSoftmax,
  mean,
  mul,
  neg,
  reshape,
  square,
  sub,
  sum,
  takeAlong,
  type Tensor,
} from '../../../engine/tensor/index.ts'
import { rowSize } from '../../environment/index.ts'
import {
  categorical,
  type Encoder,
  fanInUniform,
  leastOf,
  mlpNetwork,
  overObservations,
} from '../../policy/index.ts'
import { discreteActions } from '../action-values/action-values.ts'
import { type ClassicAlgorithm, stateOfArray, stateOfParts, stateOfValue } from '../agent.ts'
import { checkSettings } from '../check-settings.ts'
import { gradientStep, metricsOf } from '../gradient-step.ts'
import { overWindow } from '../wrap-algorithm.ts'
import {
  createTemperature,
  joinParameters,
  offPolicyAgent,
  type OffPolicyConfig,
  type TemperatureConfig,
} from './off-policy.ts'

export interface DiscreteSacConfig extends OffPolicyConfig {
  actorLearningRate: number
  /** Of the critics and the temperature. */
  criticLearningRate: number
  adamEpsilon: number
  /** Every so many gradient steps the target critics move towards the others by the share `tau`. */
  targetEvery: number
  tau: number
  temperature: TemperatureConfig
  /** The entropy to be kept, as a share of that of the uniform policy over the actions that are allowed in each state. */
  targetEntropy: number
  hidden: readonly number[]
  activation: Activation
  /** Default `mlp`. */
  encoder?: Encoder
}

/** Settings of published runs, by where they come from. `numEnvs` is how many environments they use. */
export const discreteSacPresets = {
  /** CleanRL `sac_atari.py`, but for the network, which is convolutional there. */
  cleanrl: {
    numEnvs: 1,
    bufferSize: 1_000_000,
    batchSize: 64,
    learningStarts: 20_000,
    trainEvery: 4,
    gradientSteps: 1,
    gamma: 0.99,
    actorLearningRate: 3e-4,
    criticLearningRate: 3e-4,
    adamEpsilon: 1e-4,
    targetEvery: 2000,
    tau: 1,
    temperature: { auto: true, start: 1 },
    targetEntropy: 0.89,
    hidden: [256, 256],
    activation: 'relu',
  },
} as const satisfies Record<string, DiscreteSacConfig & { numEnvs: number }>

/**
 * Soft actor-critic for discrete actions (Christodoulou 2019, arXiv:1910.07207): the critics give a value for each action,
 * and expectations over the policy are sums, not samples. Masked actions have probability 0, and the entropy to be kept is
 * a share of what the allowed ones can have, state by state. A gradient step is two program runs: the critics with their targets, then
 * the actor.
 */
export const discreteSac = (config: DiscreteSacConfig): ClassicAlgorithm =>
  overWindow(checkSettings(config).encoder, async (environment, { seed, threads = 1 }) => {
    const { definition } = environment
    const { n, start } = discreteActions(definition, 'discrete sac')
    const numEnvs = environment.numEnvs.count
    const width = rowSize(definition.observation)
    const rows = config.batchSize
    const { hidden, activation } = config
    const distribution = categorical(n, start)
    const network = (prefix: string) =>
      overObservations(
        definition.observation,
        (inputs) => fanInUniform(mlpNetwork({ inputs, hidden, activation, outputs: n, prefix })),
        { encoder: config.encoder, prefix },
      )
    const actorNetwork = network('actor.')
    const criticNetworks = [network('q1.'), network('q2.')]
    const random = createRandom('discrete sac', seed)
    const actor = createParameters(actorNetwork.specs, random.split('actor'))
    const critics = createParameters(
      { ...criticNetworks[0].specs, ...criticNetworks[1].specs },
      random.split('critics'),
    )
    const targets = zeroParameters(critics.shapes)
    targets.data.set(critics.data)
    const judging = joinParameters(actor, targets)
    const actorAdam = createAdam(actor.data.length, { epsilon: config.adamEpsilon })
    const criticAdam = createAdam(critics.data.length, { epsilon: config.adamEpsilon })
    const temperature = createTemperature(config.temperature, {
      learningRate: config.criticLearningRate,
    })
    const alpha: HostTensor = { data: temperature.value, shape: [1] }
    const isMasked = environment.actionMask.length > 0
    /** Penalties of the states that were acted in, row by row as the replay keeps transitions of one step. */
    const masks = new Float32Array(isMasked ? config.bufferSize * n : 0)
    const penalty: HostTensor = { data: new Float32Array(rows * n), shape: [rows, n] }
    const nextPenalty: HostTensor = { data: new Float32Array(rows * n), shape: [rows, n] }
    let at = 0
    let steps = 0

    /** Of the policy at x, with the least of the critics' values and log-probabilities for each action. */
    function expectation(
      weights: Record<string, Tensor>,
      judges: Record<string, Tensor>,
      x: Tensor,
      forbidden: Tensor,
    ) {
      const logs = logSoftmax(add(actorNetwork.trace(weights, x), forbidden))
      const q = leastOf(criticNetworks.map((critic) => critic.trace(judges, x)))
      const over = (values: Tensor): Tensor => sum(mul(exp(logs), values), { axes: [-1] })
      return { value: over(q), entropy: neg(over(logs)) }
    }
    const state = {
      observations: { shape: ['B', width] },
      penalty: { shape: ['B', n] },
      alpha: { shape: [1] },
    }
    const criticObjective = await compileObjective({
      name: 'discrete sac critics',
      threads,
      parameters: critics.shapes,
      fixed: judging.shapes,
      inputs: {
        observations: state.observations,
        actions: { shape: ['B', 1] },
        rewards: { shape: ['B'] },
        discounts: { shape: ['B'] },
        nextObservations: state.observations,
        nextPenalty: state.penalty,
        alpha: state.alpha,
      },
      trace(weights, inputs, fixed) {
        const next = expectation(fixed, fixed, inputs['nextObservations'], inputs['nextPenalty'])
        const soft = add(next.value, mul(inputs['alpha'], next.entropy))
        const target = add(inputs['rewards'], mul(inputs['discounts'], soft))
        const index = cast(add(reshape(inputs['actions'], ['B']), -start), 'int32')
        const estimates = criticNetworks.map((critic) =>
          takeAlong(critic.trace(weights, inputs['observations']), index),
        )
        const losses = estimates.map((q) => mean(square(sub(q, target))))
        return { loss: add(losses[0], losses[1]), outputs: { value: mean(estimates[0]) } }
      },
    })
    const actorObjective = await compileObjective({
      name: 'discrete sac actor',
      threads,
      parameters: actor.shapes,
      fixed: critics.shapes,
      inputs: state,
      trace(weights, inputs, fixed) {
        const { value, entropy } = expectation(weights, fixed, inputs['observations'], inputs['penalty'])
        return {
          loss: neg(mean(add(value, mul(inputs['alpha'], entropy)))),
          outputs: { entropy: mean(entropy) },
        }
      },
    })

    const scratch = new Float32Array(numEnvs * n)
    const allowed = (mask: Uint8Array | undefined): Uint8Array | undefined =>
      isMasked && mask !== undefined && mask.length > 0 ? mask : undefined
    const penaltyOf = (mask: number): number => (mask === 1 ? 0 : -1e9)
    return offPolicyAgent(
      environment,
      config,
      {
        explore(drawing, begun) {
          if (begun) actorNetwork.forward(actor, environment.observations, numEnvs, scratch)
          else scratch.fill(0)
          const mask = allowed(environment.actionMask)
          for (let r = 0; r < numEnvs; r++) distribution.draw(scratch, r, environment.actions, drawing, mask)
        },
        acted() {
          if (!isMasked) return
          for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
            for (let i = 0; i < n; i++)
              masks[at * n + i] = penaltyOf(environment.actionMask[envIndex * n + i])
            at = (at + 1) % config.bufferSize
          }
        },
        async update(batch) {
          if (isMasked) {
            for (let i = 0; i < rows * n; i++) {
              nextPenalty.data[i] = penaltyOf(batch.nextMask[i])
              penalty.data[i] = masks[batch.indices[Math.floor(i / n)] * n + (i % n)]
            }
          }
          const observations: HostTensor = { data: batch.observations, shape: [rows, width] }
          const { metrics } = await gradientStep(
            { objective: criticObjective, parameters: critics, optimiser: criticAdam },
            config.criticLearningRate,
            {
              observations,
              actions: { data: batch.actions, shape: [rows, 1] },
              rewards: { data: batch.returns, shape: [rows] },
              discounts: { data: batch.discounts, shape: [rows] },
              nextObservations: { data: batch.nextObservations, shape: [rows, width] },
              nextPenalty,
              alpha,
            },
            judging,
          )
          const ofActor = await gradientStep(
            { objective: actorObjective, parameters: actor, optimiser: actorAdam },
            config.actorLearningRate,
            { observations, penalty, alpha },
            critics,
          )
          const { entropy } = ofActor.metrics
          const most = isMasked ? meanMostEntropy(penalty) : Math.log(n)
          temperature.update(entropy, config.targetEntropy * most)
          if (++steps % config.targetEvery === 0) moveTowards(targets, critics, config.tau)
          return {
            ...metricsOf('critic', metrics),
            ...metricsOf('actor', ofActor.metrics),
            temperature: temperature.value[0],
          }
        },
        predict(observations, count, actions, mask) {
          const logits = new Float32Array(count * n)
          actorNetwork.forward(actor, observations, count, logits)
          for (let r = 0; r < count; r++) distribution.draw(logits, r, actions, undefined, allowed(mask))
        },
        values(observations, count, values, mask) {
          const logits = new Float32Array(count * n)
          const q = criticNetworks.map((critic) => {
            const found = new Float32Array(count * n)
            critic.forward(critics, observations, count, found)
            return found
          })
          actorNetwork.forward(actor, observations, count, logits)
          for (let r = 0; r < count; r++) {
            const row = logits.subarray(r * n, (r + 1) * n)
            if (allowed(mask) !== undefined)
              for (let i = 0; i < n; i++) if (mask![r * n + i] === 0) row[i] = -Infinity
            const highest = Math.max(...row)
            const weights = row.map((logit) => Math.exp(logit - highest))
            const total = weights.reduce((a, b) => a + b, 0)
            values[r] = weights.reduce(
              (value, w, i) => value + (w / total) * Math.min(q[0][r * n + i], q[1][r * n + i]),
              0,
            )
          }
        },
        ...stateOfParts({
          actor: stateOfArray(actor.data),
          critics: stateOfArray(critics.data),
          targets: stateOfArray(targets.data),
          actorAdam,
          criticAdam,
          temperature,
          masks: stateOfArray(masks),
          at: stateOfValue(
            () => at,
            (value) => (at = value),
          ),
          steps: stateOfValue(
            () => steps,
            (value) => (steps = value),
          ),
        }),
        async dispose() {
          await criticObjective.dispose()
          await actorObjective.dispose()
        },
      },
      random.split('draws'),
    )
  })

/** The entropy of the uniform policy over the actions that are not penalised, a mean over the rows. */
function meanMostEntropy({ data, shape: [rows, n] }: HostTensor): number {
  let sum = 0
  for (let r = 0; r < rows; r++) {
    let allowed = 0
    for (let i = 0; i < n; i++) if (data[r * n + i] === 0) allowed++
    sum += Math.log(allowed)
  }
  return sum / rows
}
