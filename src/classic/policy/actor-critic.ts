import type { ParameterSet, ParameterSpec } from '../../engine/nn/index.ts'
import type { Random } from '../../engine/random/index.ts'
import { broadcastTo, concat, reshape, slice, type Tensor } from '../../engine/tensor/index.ts'
import { AgogeError } from '../../error.ts'
import { box, type EnvironmentDefinition } from '../environment/index.ts'
import { checkReal } from './bounded-actions.ts'
import { type ActionDistribution, categorical, gaussian, multiCategorical } from './distributions.ts'
import { type Encoder, overObservations } from './encoder.ts'
import { gruLayer } from './gru.ts'
import {
  fanInUniform,
  mlpNetwork,
  type MlpOptions,
  chain,
  columnsNetwork,
  identityNetwork,
  type Network,
} from './mlp.ts'

/** A stochastic policy and a value function over rows of observations. */
export interface ActorCritic {
  readonly specs: Readonly<Record<string, ParameterSpec>>
  readonly distribution: ActionDistribution
  /** Traced: x [B, observation] to the parameters of the distribution [B, p] and values [B, 1]. */
  trace(parameters: Record<string, Tensor>, x: Tensor): { parameters: Tensor; values: Tensor }
  /**
   * Samples an action for each row. Without `random` it takes the most likely action. Fills `logprobs` and
   * `values` [rows] if given.
   */
  act(
    parameters: ParameterSet,
    observations: Float32Array,
    rows: number,
    to: { actions: Float32Array; logprobs?: Float32Array; values?: Float32Array },
    random: Random | undefined,
    mask?: Uint8Array,
  ): void
  /** Computes the values of rows. */
  evaluate(parameters: ParameterSet, observations: Float32Array, rows: number, values: Float32Array): void
}

/**
 * The action distribution for an environment.
 *
 * @throws AgogeError `unsupported-space` for a box of integers
 */
export function distributionFor(definition: EnvironmentDefinition): ActionDistribution {
  switch (definition.action.type) {
    case 'discrete':
      return categorical(definition.action.n, definition.action.start)
    case 'multi-discrete':
      return multiCategorical(definition.action.counts)
    case 'multi-binary':
      return multiCategorical(Array.from({ length: definition.action.n }, () => 2))
    case 'box':
      checkReal(definition.name, definition.action)
      return gaussian(definition.action)
  }
}

interface ActorCriticOptions extends Pick<MlpOptions, 'hidden' | 'activation'> {
  /** Encoder in front of the networks; actor and critic each have their own. */
  encoder?: Encoder | undefined
  /** Restricts the features that actor and critic see. Default: all. */
  sees?: { actor: Network; critic: Network }
  /**
   * Initialises weights orthogonally with gains. `false` initialises weights and biases uniformly, as PyTorch's
   * linear layers. Default: true.
   */
  orthogonal?: boolean | undefined
}

/** Separate MLPs for actor and critic, as in CleanRL. With an encoder, each has its own encoder in front. */
export function mlpActorCritic(
  definition: EnvironmentDefinition,
  { hidden, activation = 'tanh', encoder, sees, orthogonal = true }: ActorCriticOptions,
): ActorCritic {
  const distribution = distributionFor(definition)
  const isBox = definition.action.type === 'box'
  const k = distribution.actionSize
  const perceptron = (front: Network | undefined, options: Omit<MlpOptions, 'hidden'>): Network => {
    const network = mlpNetwork({ ...options, inputs: front?.outputs ?? options.inputs, hidden, activation })
    const begun = orthogonal ? network : fanInUniform(network)
    return front === undefined ? begun : chain(front, begun)
  }
  const outputs = isBox ? k : distribution.parameters
  const actor = overObservations(
    definition.observation,
    (inputs) => perceptron(sees?.actor, { inputs, outputs, outputGain: 0.01, prefix: 'actor.' }),
    { encoder, prefix: 'actor.' },
  )
  const critic = overObservations(
    definition.observation,
    (inputs) => perceptron(sees?.critic, { inputs, outputs: 1, prefix: 'critic.' }),
    { encoder, prefix: 'critic.' },
  )
  const logDeviation: Record<string, ParameterSpec> = isBox
    ? { 'actor.logDeviation': { shape: [1, k], initialise: () => new Float32Array(k) } }
    : {}
  let scratch = new Float32Array(0)
  let joined = new Float32Array(0)
  return {
    specs: { ...actor.specs, ...logDeviation, ...critic.specs },
    distribution,
    trace(parameters, x) {
      const out = actor.trace(parameters, x)
      const values = critic.trace(parameters, x)
      if (!isBox) return { parameters: out, values }
      const logs = broadcastTo(parameters['actor.logDeviation'], [x.shape[0], k])
      return { parameters: concat([out, logs], 1), values }
    },
    act(parameters, observations, rows, { actions, logprobs, values }, random, mask) {
      if (scratch.length < rows * actor.outputs) {
        scratch = new Float32Array(rows * actor.outputs)
        joined = new Float32Array(rows * distribution.parameters)
      }
      actor.forward(parameters, observations, rows, scratch)
      let found = scratch
      if (isBox) {
        const logs = parameters.views['actor.logDeviation']
        for (let r = 0; r < rows; r++) {
          for (let i = 0; i < k; i++) {
            joined[r * 2 * k + i] = scratch[r * k + i]
            joined[r * 2 * k + k + i] = logs[i]
          }
        }
        found = joined
      }
      const masked = mask !== undefined && mask.length > 0 ? mask : undefined
      for (let r = 0; r < rows; r++) {
        const logprob = distribution.draw(found, r, actions, random, masked)
        if (!Number.isFinite(logprob)) throw notFinite(definition.name, r, logprob)
        if (logprobs !== undefined) logprobs[r] = logprob
      }
      if (values !== undefined) critic.forward(parameters, observations, rows, values)
    },
    evaluate: (parameters, observations, rows, values) =>
      critic.forward(parameters, observations, rows, values),
  }
}

function notFinite(environment: string, envIndex: number, value: number): AgogeError {
  return new AgogeError(
    `the policy for ${environment} gave ${value} as the log-probability of environment ${envIndex}`,
    {
      code: 'not-finite',
      given: { environment, envIndex, field: 'logprob', value: String(value) },
      expected: 'finite numbers',
      hint: 'observations or weights hold NaN or infinity: lower the learning rate, normalise observations',
    },
  )
}

/**
 * A stochastic policy and a value function with a memory that persists between steps. It is zero at the start
 * of an episode.
 */
export interface RecurrentActorCritic {
  readonly specs: Readonly<Record<string, ParameterSpec>>
  readonly distribution: ActionDistribution
  /** Length of the memory of one row. */
  readonly memorySize: number
  /**
   * Traced, for B sequences of T steps. Takes x [B * T, observation], with the rows of a sequence next to each
   * other, and the memory [B, memorySize]. The memory is reset before steps where `keep` [B, T] is 0. Returns
   * the parameters of the distribution [B * T, p] and values [B * T, 1].
   */
  trace(
    parameters: Record<string, Tensor>,
    x: Tensor,
    from: { memory: Tensor; keep: Tensor },
  ): { parameters: Tensor; values: Tensor }
  /** As in `ActorCritic`. Reads and updates `memory` [rows, memorySize]. */
  act(
    parameters: ParameterSet,
    observations: Float32Array,
    memory: Float32Array,
    rows: number,
    to: Parameters<ActorCritic['act']>[3],
    random: Random | undefined,
    mask?: Uint8Array,
  ): void
  /** Computes the values of rows. Updates `memory` [rows, memorySize]. */
  evaluate(
    parameters: ParameterSet,
    observations: Float32Array,
    memory: Float32Array,
    rows: number,
    values: Float32Array,
  ): void
}

/**
 * Two GRUs with an MLP on each, for the actor and the critic. The memory is the concatenation of their states.
 * As with the two LSTMs of sb3-contrib's RecurrentPPO, gradients of the critic do not reach the memory of the
 * actor.
 */
export function gruActorCritic(
  definition: EnvironmentDefinition,
  {
    size,
    hidden,
    activation = 'tanh',
    orthogonal = true,
  }: Omit<ActorCriticOptions, 'encoder' | 'sees'> & { size: number },
): RecurrentActorCritic {
  const front = overObservations(definition.observation, identityNetwork)
  const units = (['actor', 'critic'] as const).map((name) =>
    gruLayer({ inputs: front.outputs, size, prefix: `${name}.body.`, orthogonal }),
  )
  const width = 2 * size
  const heads = mlpActorCritic(
    { ...definition, observation: box([width], -1, 1) },
    {
      hidden,
      activation,
      orthogonal,
      sees: { actor: columnsNetwork(width, 0, size), critic: columnsNetwork(width, size, width) },
    },
  )
  let encoded = new Float32Array(0)
  let state = new Float32Array(0)

  function step(parameters: ParameterSet, x: Float32Array, memory: Float32Array, rows: number): void {
    if (encoded.length < rows * front.outputs) {
      encoded = new Float32Array(rows * front.outputs)
      state = new Float32Array(rows * size)
    }
    front.forward(parameters, x, rows, encoded)
    units.forEach((unit, i) => {
      for (let r = 0; r < rows; r++)
        for (let k = 0; k < size; k++) state[r * size + k] = memory[r * width + i * size + k]
      unit.step(parameters, encoded, state, rows)
      for (let r = 0; r < rows; r++)
        for (let k = 0; k < size; k++) memory[r * width + i * size + k] = state[r * size + k]
    })
  }

  return {
    specs: { ...units[0].specs, ...units[1].specs, ...heads.specs },
    distribution: heads.distribution,
    memorySize: width,
    trace(parameters, x, { memory, keep }) {
      const [batch, steps] = keep.shape
      const frames = reshape(front.trace(parameters, x), [batch, steps, front.outputs])
      const states = units.map((unit, i) => {
        const start = slice(memory, { axis: 1, start: i * size, end: (i + 1) * size })
        const after = unit.trace(parameters, frames, start, keep)
        return concat(
          after.map((each) => reshape(each, [batch, 1, size])),
          1,
        )
      })
      return heads.trace(parameters, reshape(concat(states, 2), [x.shape[0], width]))
    },
    act(parameters, observations, memory, rows, to, random, mask) {
      step(parameters, observations, memory, rows)
      heads.act(parameters, memory, rows, to, random, mask)
    },
    evaluate(parameters, observations, memory, rows, values) {
      step(parameters, observations, memory, rows)
      heads.evaluate(parameters, memory, rows, values)
    },
  }
}
