import { parameterFeeds } from '../../engine/nn/index.ts'
import type { ParameterSet } from '../../engine/nn/index.ts'
import type { Network } from '../policy/index.ts'
import { compileForSize } from '../../engine/tensor/index.ts'
import type { HostTensor, InputSpec, Tensor } from '../../engine/tensor/index.ts'

export interface NextValues {
  /** The outputs of both networks for the observations [rows, outputs]; the same array where there is one network. */
  run(): Promise<{ judged: Float32Array; chosen: Float32Array }>
  dispose(): Promise<void>
}

/**
 * What a network says of next observations, under the parameters that judge and, where given, those that choose. All
 * arrays are read in place, at each call. At a batch of 128 this takes a tenth of the time of plain loops.
 */
export async function compileNextValues(
  network: Network,
  next: { observations: Float32Array; rows: number },
  parameters: { judge: ParameterSet; choose?: ParameterSet },
  options: { name: string; threads: number },
): Promise<NextValues> {
  const x: HostTensor = { data: next.observations, shape: [next.rows, network.inputs] }
  const sets = Object.entries(parameters)
  const inputs: Record<string, InputSpec> = { x: { shape: x.shape } }
  const feeds: Record<string, HostTensor> = { x }
  for (const [which, set] of sets) {
    Object.assign(feeds, parameterFeeds(set, `${which}:`))
    for (const [name, shape] of Object.entries(set.shapes)) inputs[`${which}:${name}`] = { shape }
  }
  const program = await compileForSize(
    inputs,
    (all) =>
      Object.fromEntries(
        sets.map(([which, { shapes }]) => {
          const own = Object.keys(shapes).map((name): [string, Tensor] => [name, all[`${which}:${name}`]])
          return [which, network.trace(Object.fromEntries(own), all['x'])]
        }),
      ),
    options,
  )
  return {
    async run() {
      const { judge, choose = judge } = await program.run(feeds)
      return { judged: judge.data as Float32Array, chosen: choose.data as Float32Array }
    },
    dispose: () => program.release(),
  }
}
