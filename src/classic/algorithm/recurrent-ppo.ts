import { rowSize } from '../environment/index.ts'
import { AgogeError } from '../../error.ts'
import { compileObjective, createParameters } from '../../engine/nn/index.ts'
import { clipActionRows, gruActorCritic } from '../policy/index.ts'
import { createRandom } from '../../engine/random/index.ts'
import type { HostTensor } from '../../engine/tensor/index.ts'
import type { ClassicAlgorithm } from './agent.ts'
import { checkMinibatches } from './check-settings.ts'
import { stateOfArray, stateOfParts, stateOfValue } from './state-dict.ts'
import { memoryRows } from './memory-rows.ts'
import { ppoLoss } from './ppo-loss.ts'
import { createPpoUpdate } from './ppo-update.ts'
import type { PpoConfig } from './ppo.ts'
import { createRollout } from './rollout.ts'

/** Gated recurrent units of the actor and of the critic, whose states are carried from step to step. */
export interface CarriedGruEncoder {
  kind: 'gru'
  /** Given, it is another body, which reads so many observations anew at every step. */
  window?: undefined
  /** Numbers of the state of each. Default 64. */
  size?: number
  /** Steps that gradients flow back through; a divisor of the rollout's. Default: the largest of at most 32. */
  sequence?: number
}

/** Graphs grow with the sequence, and what lies further back than this teaches little. */
const longest = 32
const defaultSequence = (steps: number): number => {
  let sequence = Math.min(steps, longest)
  while (sequence > 1 && steps % sequence !== 0) sequence--
  return sequence
}

export type RecurrentPpoConfig = Omit<PpoConfig, 'encoder'> & { encoder: CarriedGruEncoder }

/**
 * PPO for a policy that remembers (as sb3-contrib's RecurrentPPO and CleanRL's `ppo_atari_lstm`): the state of the
 * recurrent unit is carried through an episode, and sequences of the rollout are computed again from the states they
 * began with, which were kept. Minibatches are made of whole sequences.
 *
 * @throws AgogeError `bad-argument` where sequences do not divide the rollout
 */
export const recurrentPpo =
  (config: RecurrentPpoConfig): ClassicAlgorithm =>
  async (environment, { seed, totalSteps, threads = 1 }) => {
    const { size = 64, sequence = defaultSequence(config.rolloutSteps) } = config.encoder
    if (!(sequence >= 1) || config.rolloutSteps % sequence !== 0) {
      throw new AgogeError('sequences have to divide the rollout', {
        code: 'bad-argument',
        given: `sequences of ${sequence} steps, rollouts of ${config.rolloutSteps}`,
        expected: `a divisor of ${config.rolloutSteps}`,
      })
    }
    const { definition } = environment
    const numEnvs = environment.numEnvs.count
    checkMinibatches(config.minibatches, (numEnvs * config.rolloutSteps) / sequence, 'sequences')
    const width = rowSize(definition.observation)
    const choices = environment.actionMask.length / numEnvs
    const policy = gruActorCritic(definition, { ...config, size })
    const { actionSize } = policy.distribution
    const random = createRandom('recurrent ppo', seed)
    const parameters = createParameters(policy.specs, random.split('parameters'))
    const { memorySize } = policy
    const rows = memoryRows(environment, memorySize)
    const rollout = createRollout(rows.environment, config.rolloutSteps, actionSize, sequence)
    const all = `${sequence}*B`
    const objective = await compileObjective({
      name: 'recurrent ppo',
      threads,
      parameters: parameters.shapes,
      inputs: {
        memory: { shape: ['B', memorySize] },
        keep: { shape: ['B', sequence] },
        observations: { shape: [all, width] },
        actions: { shape: [all, actionSize] },
        logprobs: { shape: [all] },
        values: { shape: [all] },
        advantages: { shape: [all] },
        returns: { shape: [all] },
        clip: { shape: [1] },
        ...(config.klPenalty === undefined ? {} : { beta: { shape: [1] } }),
        ...(choices > 0 ? { maskPenalty: { shape: [all, choices] } } : {}),
      },
      trace(weights, inputs) {
        const { observations, memory, keep } = inputs
        const found = policy.trace(weights, observations, { memory, keep })
        return ppoLoss(config, policy.distribution, found, inputs)
      },
    })
    const updating = createPpoUpdate(config, parameters, objective)
    const drawing = random.split('actions')
    let seen = 0
    let begun = false

    function evaluate(given: Float32Array, count: number, values: Float32Array): void {
      const { observations, memory } = rows.split(given, count)
      policy.evaluate(parameters, observations, memory, count, values)
    }

    function* minibatches(): Generator<Record<string, HostTensor>> {
      for (const batch of rollout.minibatches(config.minibatches, drawing)) {
        const [count] = batch.observations.shape
        const given = batch.observations.data as Float32Array
        const { observations, memory } = rows.split(given, count, sequence)
        yield {
          ...batch,
          observations: { data: observations, shape: [count, width] },
          memory: { data: memory, shape: [count / sequence, memorySize] },
        }
      }
    }

    return {
      memorySize,
      act() {
        if (!begun) rows.begin()
        begun = true
        const to = rollout.next()
        const { observations, actionMask } = environment
        policy.act(parameters, observations, rows.memory, numEnvs, to, drawing, actionMask)
        rollout.acted()
      },
      learn() {
        seen += numEnvs
        rows.stepped()
        if (!rollout.stepped()) return undefined
        rollout.finish(config, evaluate)
        return updating.run(1 - seen / totalSteps, minibatches)
      },
      predict(observations, count, actions, mask, memory = new Float32Array(count * memorySize)) {
        policy.act(parameters, observations, memory, count, { actions }, undefined, mask)
        clipActionRows(definition.action, actions, count)
      },
      values: (observations, count, values) =>
        policy.evaluate(parameters, observations, new Float32Array(count * memorySize), count, values),
      ...stateOfParts({
        parameters: stateOfArray(parameters.data),
        update: updating,
        rollout,
        rows,
        random: drawing,
        seen: stateOfValue(
          () => seen,
          (value) => (seen = value),
        ),
        begun: stateOfValue(
          () => begun,
          (value) => (begun = value),
        ),
      }),
      dispose: () => objective.dispose(),
    }
  }
