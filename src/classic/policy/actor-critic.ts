import type { EnvironmentDefinition } from '../environment/index.ts'
import { AgogeError } from '../../error.ts'
import type { ParameterSet, ParameterSpec } from '../../engine/nn/index.ts'
import type { Random } from '../../engine/random/index.ts'
import { broadcastTo, concat } from '../../engine/tensor/index.ts'
import type { Tensor } from '../../engine/tensor/index.ts'
import { checkReal } from './bounded-actions.ts'
import { categorical } from './categorical.ts'
import type { Encoder } from './encoder.ts'
import type { ActionDistribution } from './distribution.ts'
import { fanInUniform } from './fan-in.ts'
import { gaussian } from './gaussian.ts'
import { mlpNetwork } from './mlp.ts'
import type { MlpOptions } from './mlp.ts'
import { multiCategorical } from './multi-categorical.ts'
import { chain } from './network.ts'
import type { Network } from './network.ts'
import { overObservations } from './over-observations.ts'

/** A stochastic policy and an estimate of the value, over rows of observations. */
export interface ActorCritic {
  readonly specs: Readonly<Record<string, ParameterSpec>>
  readonly distribution: ActionDistribution
  /** x [B, observation] to the distribution's parameters [B, p] and values [B, 1]. */
  trace(parameters: Record<string, Tensor>, x: Tensor): { parameters: Tensor; values: Tensor }
  /**
   * Draws an action for each row; `random` undefined: the likeliest. Fills `logprobs` and `values` [rows] where given.
   */
  act(
    parameters: ParameterSet,
    observations: Float32Array,
    rows: number,
    to: { actions: Float32Array; logprobs?: Float32Array; values?: Float32Array },
    random: Random | undefined,
    mask?: Uint8Array,
  ): void
  /** Values of rows. */
  evaluate(parameters: ParameterSet, observations: Float32Array, rows: number, values: Float32Array): void
}

/** The distribution for an environment's actions. @throws AgogeError `unsupported-space` for a box of integers. */
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

export interface ActorCriticOptions extends Pick<MlpOptions, 'hidden' | 'activation'> {
  /** One before the actor and another before the critic. */
  encoder?: Encoder | undefined
  /** Instead of all that is observed, what each sees of it. */
  sees?: { actor: Network; critic: Network }
  /** Weights begin orthogonal, with gains; false: uniform as PyTorch's linear layers, biases too. Default true. */
  orthogonal?: boolean | undefined
}

/** Separate multi-layer perceptrons for actor and critic, as in CleanRL; with a body, one of its own before each. */
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
    `the policy for ${environment} gave ${value} as the log-probability of slot ${envIndex}`,
    {
      code: 'not-finite',
      given: { environment, envIndex, field: 'logprob', value: String(value) },
      expected: 'finite numbers',
      hint: 'observations or weights hold NaN or infinity: lower the learning rate, normalise observations',
    },
  )
}
