import type { ArraySpace } from '../environment/index.ts'
import type { ParameterSet, ParameterSpec } from '../../engine/nn/index.ts'
import { concat, minimum, reshape } from '../../engine/tensor/index.ts'
import type { Tensor } from '../../engine/tensor/index.ts'
import { type Encoder, overObservations } from './encoder.ts'
import { fanInUniform, mlpNetwork, type MlpOptions } from './mlp.ts'
import { identityNetwork } from './network.ts'

/** One or more estimates Q(s, a) of the return, for continuous actions. */
export interface ActionValues {
  readonly specs: Readonly<Record<string, ParameterSpec>>
  /** Traced: x [B, observation] and actions [B, k] to the estimates, each [B]. */
  trace(parameters: Record<string, Tensor>, x: Tensor, actions: Tensor): Tensor[]
  /** Writes the minimum of the estimates of each row to `values` [rows]. */
  least(
    parameters: ParameterSet,
    x: Float32Array,
    actions: Float32Array,
    rows: number,
    values: Float32Array,
  ): void
}

/**
 * MLPs over the concatenation of the observation, or the output of an encoder, with the action. Their
 * parameters have the prefixes `q1.`, `q2.` ...
 */
export function mlpActionValues(
  sizes: { observation: ArraySpace; action: number; count: number },
  { encoder, ...options }: Pick<MlpOptions, 'hidden' | 'activation'> & { encoder?: Encoder | undefined },
): ActionValues {
  const { observation, action, count } = sizes
  const networks = Array.from({ length: count }, (_, i) => {
    const prefix = `q${i + 1}.`
    const front = overObservations(observation, identityNetwork, { encoder, prefix })
    const inputs = front.outputs + action
    return { front, head: fanInUniform(mlpNetwork({ ...options, inputs, outputs: 1, prefix })) }
  })
  return {
    specs: Object.assign(
      {},
      ...networks.map(({ front, head }) => ({ ...front.specs, ...head.specs })),
    ) as Record<string, ParameterSpec>,
    trace: (parameters, x, actions) =>
      networks.map(({ front, head }) =>
        reshape(head.trace(parameters, concat([front.trace(parameters, x), actions], 1)), [x.shape[0]]),
      ),
    least(parameters, x, actions, rows, values) {
      const [{ front: first }] = networks
      const features = new Float32Array(rows * first.outputs)
      const joined = new Float32Array(rows * (first.outputs + action))
      const found = new Float32Array(rows)
      values.fill(Infinity, 0, rows)
      for (const { front, head } of networks) {
        const { outputs } = front
        const { inputs } = head
        front.forward(parameters, x, rows, features)
        for (let r = 0; r < rows; r++) {
          joined.set(features.subarray(r * outputs, (r + 1) * outputs), r * inputs)
          joined.set(actions.subarray(r * action, (r + 1) * action), r * inputs + outputs)
        }
        head.forward(parameters, joined, rows, found)
        for (let r = 0; r < rows; r++) values[r] = Math.min(values[r], found[r])
      }
    },
  }
}

/** The minimum of several estimates of the same shape. */
export const leastOf = (estimates: readonly Tensor[]): Tensor => estimates.reduce((a, b) => minimum(a, b))
