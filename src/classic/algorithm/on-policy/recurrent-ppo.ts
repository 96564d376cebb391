import { compileObjective, type BatchMember } from '../../../engine/nn/index.ts'
import { createRandom } from '../../../engine/random/index.ts'
import type { HostTensor } from '../../../engine/tensor/index.ts'
import { AgogeError } from '../../../error.ts'
import { type AnyVector, box, rowSize } from '../../environment/index.ts'
import { clipActionRows, gruActorCritic } from '../../policy/index.ts'
import { type ClassicAlgorithm, stateOfArray, stateOfFields, stateOfParts } from '../agent.ts'
import { checkMinibatches } from '../check-settings.ts'
import { createPpoParameters, createPpoUpdate, ppoMinibatchLoss } from './ppo-update.ts'
import type { PpoConfig } from './ppo.ts'
import { createRollout } from './rollout.ts'

/** An environment whose observations are followed by the memory of the policy at that step. */
interface MemoryRows {
  /** The environment with rows [observation, memory]. Read-only: step the original. */
  readonly environment: AnyVector
  /** [numEnvs, memory]: the memory before acting. Acting replaces it by the memory after. */
  readonly memory: Float32Array
  /** Call before the first step. */
  begin(): void
  /** Call after a step. Writes new rows, with zeros as memory at the start of an episode. */
  stepped(): void
  /**
   * Splits rows [count, observation + memory] into the two parts. Returns every `sequence`-th row of the memory,
   * from the first.
   */
  split(
    rows: Float32Array,
    count: number,
    sequence?: number,
  ): { observations: Float32Array; memory: Float32Array }
  /** A minibatch of the rollout, with the two parts of its observations as separate inputs. */
  feeds(batch: Record<string, HostTensor>, sequence: number): Record<string, HostTensor>
  state(): unknown
  restore(state: unknown): void
}

/**
 * Makes a rollout store the memory before each step, from which the step can be computed again, and the memory at
 * each last observation.
 */
function memoryRows(inner: AnyVector, size: number): MemoryRows {
  const numEnvs = inner.envs.count
  const own = rowSize(inner.definition.observation)
  const width = own + size
  const observations = new Float32Array(numEnvs * width)
  const finalObservations = new Float32Array(numEnvs * width)
  const memory = new Float32Array(numEnvs * size)

  function write(from: Float32Array, envIndex: number, to: Float32Array): void {
    for (let k = 0; k < own; k++) to[envIndex * width + k] = from[envIndex * own + k]
    for (let k = 0; k < size; k++) to[envIndex * width + own + k] = memory[envIndex * size + k]
  }

  const split: MemoryRows['split'] = (rows, count, sequence = 1) => {
    const seen = new Float32Array(count * own)
    const remembered = new Float32Array((count / sequence) * size)
    for (let r = 0; r < count; r++) {
      for (let k = 0; k < own; k++) seen[r * own + k] = rows[r * width + k]
      if (r % sequence > 0) continue
      for (let k = 0; k < size; k++) remembered[(r / sequence) * size + k] = rows[r * width + own + k]
    }
    return { observations: seen, memory: remembered }
  }

  return {
    environment: {
      ...inner,
      observations,
      finalObservations,
      definition: { ...inner.definition, observation: box([width], -Infinity, Infinity) },
    },
    memory,
    begin() {
      memory.fill(0)
      for (let envIndex = 0; envIndex < numEnvs; envIndex++) write(inner.observations, envIndex, observations)
    },
    stepped() {
      for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
        if (inner.terminated[envIndex] === 1 || inner.truncated[envIndex] === 1) {
          write(inner.finalObservations, envIndex, finalObservations)
          memory.fill(0, envIndex * size, (envIndex + 1) * size)
        }
        write(inner.observations, envIndex, observations)
      }
    },
    split,
    feeds(batch, sequence) {
      const [count] = batch['observations'].shape
      const { observations, memory } = split(batch['observations'].data as Float32Array, count, sequence)
      return {
        ...batch,
        observations: { data: observations, shape: [count, own] },
        memory: { data: memory, shape: [count / sequence, size] },
      }
    },
    state: () => [observations.slice(), finalObservations.slice(), memory.slice()],
    restore(saved) {
      const arrays = saved as Float32Array[]
      observations.set(arrays[0])
      finalObservations.set(arrays[1])
      memory.set(arrays[2])
    },
  }
}

/** Gated recurrent units of the actor and of the critic, with states that are carried from step to step. */
export interface CarriedGruEncoder {
  kind: 'gru'
  /** With a window it is a different encoder, which reads that many observations at every step. */
  window?: undefined
  /** Size of the state of each. Default: 64. */
  size?: number
  /** Steps that gradients flow back through. A divisor of `rolloutSteps`. Default: the largest divisor up to 32. */
  sequence?: number
}

/** Graphs grow with the sequence, and longer sequences teach little more. */
const longest = 32
const defaultSequence = (steps: number): number => {
  let sequence = Math.min(steps, longest)
  while (sequence > 1 && steps % sequence !== 0) sequence--
  return sequence
}

type RecurrentPpoConfig = Omit<PpoConfig, 'encoder'> & { encoder: CarriedGruEncoder }

/**
 * PPO for a recurrent policy (as sb3-contrib's RecurrentPPO and CleanRL's `ppo_atari_lstm`). The state of the
 * recurrent unit is carried through an episode. The update computes sequences of the rollout again, from their
 * stored initial states. Minibatches consist of whole sequences.
 *
 * @throws AgogeError `bad-argument` if sequences do not divide the rollout
 */
export const recurrentPpo =
  (config: RecurrentPpoConfig): ClassicAlgorithm =>
  async (environment, { seed, totalSteps, threads = 1, batch }) => {
    const { definition } = environment
    const numEnvs = environment.envs.count
    const { size = 64, sequence = defaultSequence(config.rolloutSteps) } = config.encoder
    requireSequences(config, sequence, numEnvs)
    const policy = gruActorCritic(definition, { ...config, size })
    const { memorySize } = policy
    const random = createRandom('recurrent ppo', seed)
    const learned = createPpoParameters(policy.specs, random.split('parameters'), config)
    const { parameters } = learned
    const rows = memoryRows(environment, memorySize)
    const { actionSize } = policy.distribution
    const rollout = createRollout(rows.environment, config.rolloutSteps, actionSize, { sequence })
    const objective = await compileRecurrent(config, environment, policy, {
      sequence,
      learned,
      threads,
      batch,
    })
    const updating = createPpoUpdate(config, learned, objective)
    const drawing = random.split('actions')
    const progress = { seen: 0, begun: false }

    function evaluate(given: Float32Array, count: number, values: Float32Array): void {
      const { observations, memory } = rows.split(given, count)
      policy.evaluate(parameters, observations, memory, count, values)
    }
    function* minibatches(): Generator<Record<string, HostTensor>> {
      for (const batch of rollout.minibatches(config.minibatches, drawing)) yield rows.feeds(batch, sequence)
    }

    return {
      memorySize,
      act() {
        if (!progress.begun) rows.begin()
        progress.begun = true
        const to = rollout.next()
        const { observations, actionMask } = environment
        policy.act(parameters, observations, rows.memory, numEnvs, to, drawing, actionMask)
        rollout.acted()
      },
      learn() {
        progress.seen += numEnvs
        rows.stepped()
        if (!rollout.stepped()) return undefined
        rollout.finish(config, evaluate)
        return updating.run(1 - progress.seen / totalSteps, minibatches)
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
        ...stateOfFields(progress, ['seen', 'begun']),
      }),
      dispose: () => objective.dispose(),
    }
  }

function requireSequences(config: RecurrentPpoConfig, sequence: number, numEnvs: number): void {
  if (!(sequence >= 1) || config.rolloutSteps % sequence !== 0) {
    throw new AgogeError('sequences have to divide the rollout', {
      code: 'bad-argument',
      given: `sequences of ${sequence} steps, rollouts of ${config.rolloutSteps}`,
      expected: `a divisor of ${config.rolloutSteps}`,
    })
  }
  checkMinibatches(config.minibatches, (numEnvs * config.rolloutSteps) / sequence, 'sequences')
}

/**
 * Compiles the PPO loss over B sequences. All inputs except `memory` and `keep` have the steps of a sequence in
 * successive rows.
 */
function compileRecurrent(
  config: RecurrentPpoConfig,
  { definition, actionMask, envs }: AnyVector,
  policy: ReturnType<typeof gruActorCritic>,
  {
    sequence,
    learned: { parameters, adam },
    threads,
    batch,
  }: {
    sequence: number
    learned: ReturnType<typeof createPpoParameters>
    threads: number
    batch: BatchMember | undefined
  },
) {
  const all = `${sequence}*B`
  const choices = actionMask.length / envs.count
  return compileObjective({
    name: 'recurrent ppo',
    threads,
    batch,
    gradient: adam.own.gradient,
    parameters: parameters.shapes,
    inputs: {
      memory: { shape: ['B', policy.memorySize] },
      keep: { shape: ['B', sequence] },
      observations: { shape: [all, rowSize(definition.observation)] },
      actions: { shape: [all, policy.distribution.actionSize] },
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
      return ppoMinibatchLoss(config, policy.distribution, found, inputs)
    },
  })
}
