import { type AdamState, createAdam, type ParameterSet } from '../../../engine/nn/index.ts'
import type { Random } from '../../../engine/random/index.ts'
import type { AnyVector } from '../../environment/index.ts'
import { createReplay, type ReplayBatch } from '../../replay/replay.ts'
import { type ClassicAgent, stateOfParts, stateOfValue, type UpdateMetrics } from '../agent.ts'
import { meanMetrics } from '../gradient-step.ts'

/** Settings of actor-critic methods with a replay buffer. Steps count over all environments of the vector. */
export interface OffPolicyConfig {
  /** Transitions that the replay buffer holds. */
  bufferSize: number
  batchSize: number
  /** Steps with uniformly random actions before the first update. */
  learningStarts: number
  /** Steps between updates. An update has `gradientSteps` gradient steps. */
  trainEvery: number
  gradientSteps: number
  gamma: number
}

/** A method: how it acts, and how it learns from a batch. */
interface OffPolicyLearner {
  /**
   * Writes actions into the environment: those of the exploring policy if `begun`, otherwise uniformly random
   * ones.
   */
  explore(random: Random, begun: boolean): void
  update(batch: ReplayBatch, random: Random): Promise<UpdateMetrics>
  /** Called after acting, to store what the replay buffer does not. */
  acted?(): void
  predict: ClassicAgent['predict']
  values: NonNullable<ClassicAgent['values']>
  state(): unknown
  restore(state: unknown): void
  dispose(): Promise<void>
}

/** Fills a replay buffer, and updates from it. Truncated episodes are bootstrapped, terminated ones are not. */
export function offPolicyAgent(
  environment: AnyVector,
  config: OffPolicyConfig,
  learner: OffPolicyLearner,
  random: Random,
): ClassicAgent {
  const numEnvs = environment.envs.count
  const { trainEvery, gradientSteps, learningStarts } = config
  const replay = createReplay(environment, { capacity: config.bufferSize, gamma: config.gamma })
  const batch = replay.createBatch(config.batchSize)
  let seen = 0

  async function update(count: number): Promise<UpdateMetrics> {
    const all = meanMetrics()
    for (let k = 0; k < count; k++) {
      replay.sample(batch, random)
      all.add(await learner.update(batch, random))
    }
    return all.mean()
  }

  return {
    act() {
      learner.explore(random, seen >= learningStarts)
      replay.acted()
      learner.acted?.()
    },
    learn() {
      replay.stepped()
      seen += numEnvs
      const due = Math.floor(seen / trainEvery) - Math.floor((seen - numEnvs) / trainEvery)
      return due === 0 || seen <= learningStarts ? undefined : update(due * gradientSteps)
    },
    predict: (observations, rows, actions, mask) => learner.predict(observations, rows, actions, mask),
    values: (observations, rows, values, mask) => learner.values(observations, rows, values, mask),
    ...stateOfParts({
      learner,
      replay,
      random,
      seen: stateOfValue(
        () => seen,
        (value) => (seen = value),
      ),
    }),
    dispose: () => learner.dispose(),
  }
}

/** Joins two parameter sets into one for a program. Both are read in place. */
export const joinParameters = (a: ParameterSet, b: ParameterSet): Omit<ParameterSet, 'data'> => ({
  shapes: { ...a.shapes, ...b.shapes },
  views: { ...a.views, ...b.views },
})

/** A fixed weight; or `auto`, which adjusts it to keep the policy at a target entropy, from `start`. */
export type TemperatureConfig = number | { auto: true; start: number }

/** The weight of entropy against reward. */
interface Temperature {
  /** Input of programs, [1]. */
  readonly value: Float32Array
  /** Takes the mean entropy of the policy on a batch, and its mean target in those states. */
  update(entropy: number, target: number): void
  state(): unknown
  restore(state: unknown): void
}

/**
 * A fixed temperature, or one that is learned (Haarnoja et al. 2018, arXiv:1812.05905, section 5): Adam moves its
 * logarithm down the gradient (entropy - target).
 */
export function createTemperature(
  config: TemperatureConfig,
  { learningRate }: { learningRate: number },
): Temperature {
  const logarithm = Float32Array.of(Math.log(typeof config === 'number' ? config : config.start))
  const value = Float32Array.of(Math.exp(logarithm[0]))
  const adam = createAdam(1)
  return {
    value,
    update(entropy, target) {
      if (typeof config === 'number') return
      adam.step(logarithm, Float32Array.of(entropy - target), learningRate)
      value[0] = Math.exp(logarithm[0])
    },
    state: () => ({ logarithm: logarithm[0], adam: adam.state() }),
    restore(saved) {
      const state = saved as { logarithm: number; adam: AdamState }
      logarithm[0] = state.logarithm
      value[0] = Math.exp(state.logarithm)
      adam.restore(state.adam)
    },
  }
}
