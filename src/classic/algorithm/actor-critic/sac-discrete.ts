import {
  type Activation,
  compileObjective,
  createAdam,
  createParameters,
  moveTowards,
  zeroParameters,
} from '../../../engine/nn/index.ts'
import { createRandom, type Random } from '../../../engine/random/index.ts'
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
import { type AnyVector, type EnvironmentDefinition, rowSize } from '../../environment/index.ts'
import {
  categorical,
  type Encoder,
  fanInUniform,
  leastOf,
  mlpNetwork,
  overObservations,
} from '../../policy/index.ts'
import type { ReplayBatch } from '../../replay/replay.ts'
import { discreteActions } from '../action-values/action-values.ts'
import {
  type ClassicAlgorithm,
  stateOfArray,
  stateOfFields,
  stateOfParts,
  type UpdateMetrics,
} from '../agent.ts'
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

/** Settings of `discreteSac`. `discreteSacPresets` has those of a published run. */
export interface DiscreteSacConfig extends OffPolicyConfig {
  actorLearningRate: number
  /** Learning rate of the critics and the temperature. */
  criticLearningRate: number
  adamEpsilon: number
  /** Gradient steps between updates of the target critics, which move towards the critics by the share `tau`. */
  targetEvery: number
  tau: number
  temperature: TemperatureConfig
  /** Target entropy, as a share of the entropy of the uniform policy over the allowed actions of each state. */
  targetEntropy: number
  hidden: readonly number[]
  activation: Activation
  /** Default: `mlp`. */
  encoder?: Encoder
}

/** Settings of published runs, named after their source. `numEnvs` is their number of environments. */
export const discreteSacPresets = {
  /** CleanRL `sac_atari.py`, except for its convolutional network. */
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
 * Soft actor-critic for discrete actions (Christodoulou 2019, arXiv:1910.07207). The critics return a value for
 * each action, and expectations over the policy are sums, not samples. Masked actions have probability 0. The
 * target entropy is a share of the greatest entropy that the allowed actions of each state can have. A gradient
 * step runs two programs: first the critics with their targets, then the actor.
 */
export const discreteSac = (config: DiscreteSacConfig): ClassicAlgorithm =>
  overWindow(checkSettings(config).encoder, async (environment, { seed, threads = 1 }) => {
    const { n, start } = discreteActions(environment.definition, 'discrete sac')
    const numEnvs = environment.envs.count
    const distribution = categorical(n, start)
    const random = createRandom('discrete sac', seed)
    const networks = createNetworks(environment.definition, config, n, random)
    const { actorNetwork, actor, critics, targets, actorAdam, criticAdam } = networks
    const objectives = await compileObjectives(networks, { n, start, threads })
    const temperature = createTemperature(config.temperature, {
      learningRate: config.criticLearningRate,
    })
    const masks = createMasks(environment, config, n)
    const learner: Learner = { config, networks, objectives, temperature, masks, progress: { steps: 0 } }
    const scratch = new Float32Array(numEnvs * n)
    return offPolicyAgent(
      environment,
      config,
      {
        explore(drawing, begun) {
          if (begun) actorNetwork.forward(actor, environment.observations, numEnvs, scratch)
          else scratch.fill(0)
          const mask = masks.allowed(environment.actionMask)
          for (let r = 0; r < numEnvs; r++) distribution.draw(scratch, r, environment.actions, drawing, mask)
        },
        acted: () => masks.acted(),
        update: (batch) => update(learner, batch),
        predict(observations, count, actions, mask) {
          const logits = new Float32Array(count * n)
          actorNetwork.forward(actor, observations, count, logits)
          for (let r = 0; r < count; r++)
            distribution.draw(logits, r, actions, undefined, masks.allowed(mask))
        },
        values: (observations, count, values, mask) =>
          expectedValues(networks, observations, masks.allowed(mask), values.subarray(0, count)),
        ...stateOfParts({
          actor: stateOfArray(actor.data),
          critics: stateOfArray(critics.data),
          targets: stateOfArray(targets.data),
          actorAdam,
          criticAdam,
          temperature,
          ...masks.parts,
          ...stateOfFields(learner.progress, ['steps']),
        }),
        async dispose() {
          await objectives.critics.dispose()
          await objectives.actor.dispose()
        },
      },
      random.split('draws'),
    )
  })

interface Learner {
  config: DiscreteSacConfig
  networks: Networks
  objectives: Awaited<ReturnType<typeof compileObjectives>>
  temperature: ReturnType<typeof createTemperature>
  masks: ReturnType<typeof createMasks>
  /** Gradient steps so far. */
  progress: { steps: number }
}

/** A gradient step of the critics, then of the actor and the temperature. */
async function update(
  { config, networks, objectives, temperature, masks, progress }: Learner,
  batch: ReplayBatch,
): Promise<UpdateMetrics> {
  const { actor, critics, targets, actorAdam, criticAdam } = networks
  masks.read(batch)
  const alpha: HostTensor = { data: temperature.value, shape: [1] }
  const feeds = { ...feedsOf(batch), ...masks.feeds, alpha }
  const ofCritics = await gradientStep(
    { objective: objectives.critics, parameters: critics, optimiser: criticAdam },
    config.criticLearningRate,
    pick(feeds, criticInputs),
    networks.judging,
  )
  const ofActor = await gradientStep(
    { objective: objectives.actor, parameters: actor, optimiser: actorAdam },
    config.actorLearningRate,
    pick(feeds, actorInputs),
    critics,
  )
  temperature.update(ofActor.metrics['entropy'], config.targetEntropy * masks.mostEntropy())
  if (++progress.steps % config.targetEvery === 0) moveTowards(targets, critics, config.tau)
  return {
    ...metricsOf('critic', ofCritics.metrics),
    ...metricsOf('actor', ofActor.metrics),
    temperature: temperature.value[0],
  }
}

type Networks = ReturnType<typeof createNetworks>

function createNetworks(
  { observation }: EnvironmentDefinition,
  { hidden, activation, encoder, adamEpsilon }: DiscreteSacConfig,
  n: number,
  random: Random,
) {
  const network = (prefix: string) =>
    overObservations(
      observation,
      (inputs) => fanInUniform(mlpNetwork({ inputs, hidden, activation, outputs: n, prefix })),
      { encoder, prefix },
    )
  const actorNetwork = network('actor.')
  const criticNetworks = [network('q1.'), network('q2.')]
  const actor = createParameters(actorNetwork.specs, random.split('actor'))
  const critics = createParameters(
    { ...criticNetworks[0].specs, ...criticNetworks[1].specs },
    random.split('critics'),
  )
  const targets = zeroParameters(critics.shapes)
  targets.data.set(critics.data)
  return {
    width: rowSize(observation),
    actorNetwork,
    criticNetworks,
    actor,
    critics,
    targets,
    /** Parameters from which the targets of the critics are computed. */
    judging: joinParameters(actor, targets),
    actorAdam: createAdam(actor.data.length, { epsilon: adamEpsilon }),
    criticAdam: createAdam(critics.data.length, { epsilon: adamEpsilon }),
  }
}

const actorInputs = ['observations', 'penalty', 'alpha'] as const
const criticInputs = [
  'observations',
  'actions',
  'rewards',
  'discounts',
  'nextObservations',
  'nextPenalty',
  'alpha',
] as const

const pick = <T, K extends string>(all: Record<K, T>, names: readonly K[]): Record<string, T> =>
  Object.fromEntries(names.map((name) => [name, all[name]]))

async function compileObjectives(
  { width, actorNetwork, criticNetworks, actor, critics, judging }: Networks,
  { n, start, threads }: { n: number; start: number; threads: number },
) {
  /** Expected value under the policy at x, with the lesser critic of each action, and the entropy of the policy. */
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
  const inputs = {
    observations: { shape: ['B', width] },
    actions: { shape: ['B', 1] },
    rewards: { shape: ['B'] },
    discounts: { shape: ['B'] },
    nextObservations: { shape: ['B', width] },
    penalty: { shape: ['B', n] },
    nextPenalty: { shape: ['B', n] },
    alpha: { shape: [1] },
  }
  return {
    critics: await compileObjective({
      name: 'discrete sac critics',
      threads,
      parameters: critics.shapes,
      fixed: judging.shapes,
      inputs: pick(inputs, criticInputs),
      trace(weights, given, fixed) {
        const next = expectation(fixed, fixed, given['nextObservations'], given['nextPenalty'])
        const soft = add(next.value, mul(given['alpha'], next.entropy))
        const target = add(given['rewards'], mul(given['discounts'], soft))
        const index = cast(add(reshape(given['actions'], ['B']), -start), 'int32')
        const estimates = criticNetworks.map((critic) =>
          takeAlong(critic.trace(weights, given['observations']), index),
        )
        const losses = estimates.map((q) => mean(square(sub(q, target))))
        return { loss: add(losses[0], losses[1]), outputs: { value: mean(estimates[0]) } }
      },
    }),
    actor: await compileObjective({
      name: 'discrete sac actor',
      threads,
      parameters: actor.shapes,
      fixed: critics.shapes,
      inputs: pick(inputs, actorInputs),
      trace(weights, given, fixed) {
        const { value, entropy } = expectation(weights, fixed, given['observations'], given['penalty'])
        return {
          loss: neg(mean(add(value, mul(given['alpha'], entropy)))),
          outputs: { entropy: mean(entropy) },
        }
      },
    }),
  }
}

/** The inputs of the programs, from a batch. */
function feedsOf(batch: ReplayBatch) {
  const { rows } = batch
  const shape = [rows, batch.observations.length / rows]
  return {
    observations: { data: batch.observations, shape },
    actions: { data: batch.actions, shape: [rows, 1] },
    rewards: { data: batch.returns, shape: [rows] },
    discounts: { data: batch.discounts, shape: [rows] },
    nextObservations: { data: batch.nextObservations, shape },
  }
}

/** Stores the masks of the states that were acted in, row by row like the replay buffer, as penalties on logits. */
function createMasks(environment: AnyVector, { bufferSize, batchSize: rows }: DiscreteSacConfig, n: number) {
  const isMasked = environment.actionMask.length > 0
  const numEnvs = environment.envs.count
  const stored = new Float32Array(isMasked ? bufferSize * n : 0)
  const penalty: HostTensor = { data: new Float32Array(rows * n), shape: [rows, n] }
  const nextPenalty: HostTensor = { data: new Float32Array(rows * n), shape: [rows, n] }
  const penaltyOf = (mask: number): number => (mask === 1 ? 0 : -1e9)
  const place = { at: 0 }
  return {
    feeds: { penalty, nextPenalty },
    /** The mask, or undefined if the environment has no masks. */
    allowed: (mask: Uint8Array | undefined): Uint8Array | undefined =>
      isMasked && mask !== undefined && mask.length > 0 ? mask : undefined,
    acted(): void {
      if (!isMasked) return
      for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
        for (let i = 0; i < n; i++)
          stored[place.at * n + i] = penaltyOf(environment.actionMask[envIndex * n + i])
        place.at = (place.at + 1) % bufferSize
      }
    },
    /** Writes the masks of a batch into `feeds`. */
    read(batch: ReplayBatch): void {
      if (!isMasked) return
      for (let i = 0; i < rows * n; i++) {
        nextPenalty.data[i] = penaltyOf(batch.nextMask[i])
        penalty.data[i] = stored[batch.indices[Math.floor(i / n)] * n + (i % n)]
      }
    },
    /** The greatest possible entropy in the states of `feeds`, as a mean over them. */
    mostEntropy: (): number => (isMasked ? meanMostEntropy(penalty) : Math.log(n)),
    parts: { masks: stateOfArray(stored), ...stateOfFields(place, ['at']) },
  }
}

/** Writes the value of each observation: the lesser critic's values of all actions, weighted by the policy. */
function expectedValues(
  { actorNetwork, criticNetworks, actor, critics }: Networks,
  observations: Float32Array,
  mask: Uint8Array | undefined,
  values: Float32Array,
): void {
  const count = values.length
  const n = actorNetwork.outputs
  const logits = new Float32Array(count * n)
  const q = criticNetworks.map((critic) => {
    const found = new Float32Array(count * n)
    critic.forward(critics, observations, count, found)
    return found
  })
  actorNetwork.forward(actor, observations, count, logits)
  for (let r = 0; r < count; r++) {
    const row = logits.subarray(r * n, (r + 1) * n)
    if (mask !== undefined) for (let i = 0; i < n; i++) if (mask[r * n + i] === 0) row[i] = -Infinity
    const highest = Math.max(...row)
    const weights = row.map((logit) => Math.exp(logit - highest))
    const total = weights.reduce((a, b) => a + b, 0)
    values[r] = weights.reduce(
      (value, w, i) => value + (w / total) * Math.min(q[0][r * n + i], q[1][r * n + i]),
      0,
    )
  }
}

/** The entropy of the uniform policy over the actions without a penalty, as a mean over the rows. */
function meanMostEntropy({ data, shape: [rows, n] }: HostTensor): number {
  let sum = 0
  for (let r = 0; r < rows; r++) {
    let allowed = 0
    for (let i = 0; i < n; i++) if (data[r * n + i] === 0) allowed++
    sum += Math.log(allowed)
  }
  return sum / rows
}
