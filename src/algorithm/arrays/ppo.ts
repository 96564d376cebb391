import { rowSize } from '../../environment/index.ts'
import { compileObjective, createAdam, createParameters } from '../../nn/index.ts'
import type { Activation, AdamState } from '../../nn/index.ts'
import { mlpActorCritic } from '../../policy/index.ts'
import { createRandom } from '../../random/index.ts'
import type { RandomState } from '../../random/index.ts'
import { add, exp, maximum, mean, minimum, mul, neg, reshape, square, sub } from '../../tensor/index.ts'
import type { Tensor } from '../../tensor/index.ts'
import type { ArrayAlgorithm } from './agent.ts'
import { adaptBeta } from './kl-control.ts'
import type { KlPenalty } from './kl-control.ts'
import { createRollout } from './rollout.ts'

export interface PpoConfig {
  /** Steps of each slot between updates. */
  rolloutSteps: number
  epochs: number
  minibatches: number
  learningRate: number
  gamma: number
  lambda: number
  clip: number
  /** Clip also the change of the value (as OpenAI's code does); false: plain squared error. */
  clipValue: boolean
  entropy: number
  valueWeight: number
  maxGradientNorm: number
  /** Which of learning rate and clip fall to 0 in a straight line. */
  anneal: readonly ('learningRate' | 'clip')[]
  /** End an update before a step whose estimated divergence from the acting policy is above 1.5 times this. */
  targetKl?: number
  /** Penalise the divergence from the acting policy instead of clipping the ratio. */
  klPenalty?: KlPenalty
  hidden: readonly number[]
  activation: Activation
}

/** Settings of published runs, by where they come from. `slots` is how many environments they use. */
export const ppoPresets = {
  /** CleanRL `ppo.py`. */
  cleanrl: {
    slots: 4,
    rolloutSteps: 128,
    epochs: 4,
    minibatches: 4,
    learningRate: 2.5e-4,
    gamma: 0.99,
    lambda: 0.95,
    clip: 0.2,
    clipValue: true,
    entropy: 0.01,
    valueWeight: 0.5,
    maxGradientNorm: 0.5,
    anneal: ['learningRate'],
    hidden: [64, 64],
    activation: 'tanh',
  },
  /** RL Baselines3 Zoo, `ppo.yml`, CartPole-v1. */
  'sb3-zoo-cartpole': {
    slots: 8,
    rolloutSteps: 32,
    epochs: 20,
    minibatches: 1,
    learningRate: 1e-3,
    gamma: 0.98,
    lambda: 0.8,
    clip: 0.2,
    clipValue: false,
    entropy: 0,
    valueWeight: 0.5,
    maxGradientNorm: 0.5,
    anneal: ['learningRate', 'clip'],
    hidden: [64, 64],
    activation: 'tanh',
  },
} as const satisfies Record<string, PpoConfig & { slots: number }>

interface PpoState {
  parameters: Float32Array
  adam: AdamState
  rollout: unknown
  random: RandomState
  seen: number
  beta: number
}

/**
 * Proximal policy optimisation with a clipped surrogate (Schulman et al. 2017, arXiv:1707.06347), with the details of
 * Huang et al. 2022 ("The 37 implementation details"): separate networks, orthogonal weights, advantages normalised by
 * minibatch, Adam with epsilon 1e-5. With `klPenalty` it is the variant of the same paper with an adaptive penalty. A
 * truncated episode is bootstrapped with the value of its last observation.
 */
export const ppo =
  (config: PpoConfig): ArrayAlgorithm =>
  async (environment, { seed, totalSteps, threads = 1 }) => {
    const { world } = environment
    const slots = environment.slots.count
    const policy = mlpActorCritic(world, config)
    const random = createRandom('ppo', seed)
    const parameters = createParameters(policy.specs, random.split('parameters'))
    const shapes = Object.fromEntries(Object.entries(policy.specs).map(([name, { shape }]) => [name, shape]))
    const adam = createAdam(parameters.data.length, {
      epsilon: 1e-5,
      maxGradientNorm: config.maxGradientNorm,
    })
    const width = rowSize(world.observation)
    const choices = environment.actionMask.length / slots
    const rollout = createRollout(environment, config.rolloutSteps, policy.distribution.actionSize)
    const objective = await compileObjective({
      name: 'ppo',
      threads,
      parameters: shapes,
      inputs: {
        observations: { shape: ['B', width] },
        actions: { shape: ['B', policy.distribution.actionSize] },
        logprobs: { shape: ['B'] },
        values: { shape: ['B'] },
        advantages: { shape: ['B'] },
        returns: { shape: ['B'] },
        clip: { shape: [1] },
        ...(config.klPenalty === undefined ? {} : { beta: { shape: [1] } }),
        ...(choices > 0 ? { maskPenalty: { shape: ['B', choices] } } : {}),
      },
      trace: (weights, inputs) => ppoObjective(config, policy, weights, inputs),
    })
    const drawing = random.split('actions')
    let seen = 0
    let beta = config.klPenalty?.beta ?? 0

    async function update() {
      rollout.finish(config, (observations, rows, values) =>
        policy.evaluate(parameters, observations, rows, values),
      )
      const left = 1 - seen / totalSteps
      const learningRate = config.learningRate * (config.anneal.includes('learningRate') ? left : 1)
      const clip = config.clip * (config.anneal.includes('clip') ? left : 1)
      const sums: Record<string, number> = {}
      let count = 0
      let kl = 0
      updating: for (let epoch = 0; epoch < config.epochs; epoch++) {
        for (const batch of rollout.minibatches(config.minibatches, drawing)) {
          const { loss, outputs } = await objective.evaluate(parameters, {
            ...batch,
            clip: { data: Float32Array.of(clip), shape: [1] },
            beta: { data: Float32Array.of(beta), shape: [1] },
          })
          kl = outputs.kl.data[0]
          if (config.targetKl !== undefined && kl > 1.5 * config.targetKl) break updating
          const gradientNorm = adam.step(parameters.data, objective.gradient.data, learningRate)
          const figures = {
            loss,
            gradientNorm,
            ...Object.fromEntries(Object.entries(outputs).map(([k, v]) => [k, v.data[0]])),
          }
          for (const [name, value] of Object.entries(figures)) sums[name] = (sums[name] ?? 0) + value
          count++
        }
      }
      if (config.klPenalty !== undefined) beta = adaptBeta(beta, kl, config.klPenalty.target)
      return Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sum / count]))
    }

    return {
      act() {
        const to = rollout.next()
        policy.act(parameters, environment.observations, slots, to, drawing, environment.actionMask)
        rollout.acted()
      },
      learn() {
        seen += slots
        return rollout.stepped() ? update() : undefined
      },
      decide: (observations, rows, actions, mask) =>
        policy.act(parameters, observations, rows, { actions }, undefined, mask),
      values: (observations, rows, values) => policy.evaluate(parameters, observations, rows, values),
      state: (): PpoState => ({
        parameters: parameters.data.slice(),
        adam: adam.state(),
        rollout: rollout.state(),
        random: drawing.state(),
        seen,
        beta,
      }),
      restore(saved) {
        const state = saved as PpoState
        parameters.data.set(state.parameters)
        adam.restore(state.adam)
        rollout.restore(state.rollout)
        drawing.restore(state.random)
        seen = state.seen
        beta = state.beta
      },
      dispose: () => objective.dispose(),
    }
  }

function ppoObjective(
  { clipValue, entropy, valueWeight, klPenalty }: PpoConfig,
  policy: ReturnType<typeof mlpActorCritic>,
  weights: Record<string, Tensor>,
  inputs: Record<string, Tensor>,
) {
  const { advantages, returns, clip, maskPenalty } = inputs
  const found = policy.trace(weights, inputs['observations'])
  const logRatio = sub(
    policy.distribution.logprob(found.parameters, inputs['actions'], maskPenalty),
    inputs['logprobs'],
  )
  const ratio = exp(logRatio)
  // log(old/new) plus ratio - 1, whose mean is 0: the same mean as the divergence, and never negative (k3 of Schulman)
  const kl = mean(sub(sub(ratio, 1), logRatio))
  const clipped = minimum(maximum(ratio, sub(1, clip)), add(1, clip))
  const surrogate = mul(ratio, advantages)
  const policyLoss =
    klPenalty === undefined
      ? neg(mean(minimum(surrogate, mul(clipped, advantages))))
      : sub(mul(kl, reshape(inputs['beta'], [])), mean(surrogate))
  const values = reshape(found.values, ['B'])
  const error = square(sub(values, returns))
  const change = sub(values, inputs['values'])
  const kept = add(inputs['values'], minimum(maximum(change, neg(clip)), clip))
  const valueLoss = mul(
    mean(clipValue ? maximum(error, square(sub(kept, returns))) : error),
    clipValue ? 0.5 : 1,
  )
  const meanEntropy = mean(policy.distribution.entropy(found.parameters, maskPenalty))
  return {
    loss: add(sub(policyLoss, mul(meanEntropy, entropy)), mul(valueLoss, valueWeight)),
    outputs: { policyLoss, valueLoss, entropy: meanEntropy, kl },
  }
}
