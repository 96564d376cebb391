import type { ParameterSet, ParameterSpec } from '../nn/index.ts'
import { concat, minimum, reshape } from '../tensor/index.ts'
import type { Tensor } from '../tensor/index.ts'
import { fanInUniform } from './fan-in.ts'
import { mlpNetwork } from './mlp.ts'
import type { MlpOptions } from './mlp.ts'

/** One or more estimates Q(s, a) of the return of continuous actions. */
export interface ActionValues {
  readonly specs: Readonly<Record<string, ParameterSpec>>
  /** x [B, observation], actions [B, k] to the estimates, each [B]. */
  trace(parameters: Record<string, Tensor>, x: Tensor, actions: Tensor): Tensor[]
  /** The least of the estimates for each row, into `values` [rows]. */
  least(
    parameters: ParameterSet,
    x: Float32Array,
    actions: Float32Array,
    rows: number,
    values: Float32Array,
  ): void
}

/** Perceptrons over the observation and the action side by side; their parameters are called `q1.`, `q2.` ... */
export function mlpActionValues(
  sizes: { observation: number; action: number; count: number },
  options: Pick<MlpOptions, 'hidden' | 'activation'>,
): ActionValues {
  const { observation, action, count } = sizes
  const inputs = observation + action
  const networks = Array.from({ length: count }, (_, i) =>
    fanInUniform(mlpNetwork({ ...options, inputs, outputs: 1, prefix: `q${i + 1}.` })),
  )
  return {
    specs: Object.assign({}, ...networks.map(({ specs }) => specs)) as Record<string, ParameterSpec>,
    trace(parameters, x, actions) {
      const joined = concat([x, actions], 1)
      return networks.map((network) => reshape(network.trace(parameters, joined), [x.shape[0]]))
    },
    least(parameters, x, actions, rows, values) {
      const joined = new Float32Array(rows * inputs)
      for (let r = 0; r < rows; r++) {
        joined.set(x.subarray(r * observation, (r + 1) * observation), r * inputs)
        joined.set(actions.subarray(r * action, (r + 1) * action), r * inputs + observation)
      }
      const found = new Float32Array(rows)
      values.fill(Infinity, 0, rows)
      for (const network of networks) {
        network.forward(parameters, joined, rows, found)
        for (let r = 0; r < rows; r++) values[r] = Math.min(values[r], found[r])
      }
    },
  }
}

/** The least of several estimates of one shape. */
export const leastOf = (estimates: readonly Tensor[]): Tensor => estimates.reduce((a, b) => minimum(a, b))
