import { compileForSize, gradients } from '../tensor/index.ts'
import type { HostTensor, InputSpec, Tensor } from '../tensor/index.ts'
import { createDataParallelSplit } from './data-parallel-split.ts'
import { parameterFeeds, zeroParameters } from './parameters.ts'
import type { ParameterSet } from './parameters.ts'

export interface ObjectiveSpec<Metric extends string> {
  /** Shapes of the trained parameters. */
  parameters: Readonly<Record<string, readonly number[]>>
  /** Parameters without gradients, such as those of a target network. */
  fixed?: Readonly<Record<string, readonly number[]>>
  /** The inputs of each call. */
  inputs: Readonly<Record<string, InputSpec>>
  /** Traces the loss, a scalar, and further metrics or arrays. */
  trace: (
    parameters: Record<string, Tensor>,
    inputs: Record<string, Tensor>,
    fixed: Record<string, Tensor>,
  ) => { loss: Tensor; outputs?: Record<Metric, Tensor> }
  name?: string
  /** Default: that of `compile`. */
  threads?: number
  /**
   * The symbol of the first axis of inputs, if loss and all metrics are means over its rows. With two threads
   * and an even number of at least 64 rows, each thread computes half of them.
   */
  meanOver?: string
  /** Memory for the gradient. With that of the optimiser, the gradient is not copied. */
  gradient?: Float32Array
}

/** A compiled loss with its gradient. */
export interface Objective<Metric extends string> {
  /** The gradient of the last call, in the layout of the parameters. */
  readonly gradient: ParameterSet
  /** Computes the loss and its gradient for the given parameters. */
  evaluate(
    parameters: ParameterSet,
    feeds: Readonly<Record<string, HostTensor>>,
    fixed?: Omit<ParameterSet, 'data'>,
  ): Promise<{ loss: number; outputs: Record<Metric, HostTensor> }>
  dispose(): Promise<void>
}

/**
 * Traces a loss once, differentiates it, and compiles both into one program for the faster of the two runtimes
 * (see `compileForSize`).
 */
export async function compileObjective<Metric extends string = never>(
  spec: ObjectiveSpec<Metric>,
): Promise<Objective<Metric>> {
  const names = Object.keys(spec.parameters)
  const fixedNames = Object.keys(spec.fixed ?? {})
  const inputs: Record<string, InputSpec> = { ...spec.inputs }
  for (const name of names) inputs[`p:${name}`] = { shape: spec.parameters[name] }
  for (const name of fixedNames) inputs[`f:${name}`] = { shape: spec.fixed![name] }
  const under = (
    all: Record<string, Tensor>,
    prefix: string,
    of: readonly string[],
  ): Record<string, Tensor> => Object.fromEntries(of.map((name) => [name, all[`${prefix}${name}`]]))
  const build = (all: Record<string, Tensor>): Record<string, Tensor> => {
    const parameters = under(all, 'p:', names)
    const { loss, outputs } = spec.trace(
      parameters,
      under(all, '', Object.keys(spec.inputs)),
      under(all, 'f:', fixedNames),
    )
    const wanted = names.map((name) => parameters[name])
    const found = gradients(loss, wanted)
    return {
      loss,
      ...Object.fromEntries(
        Object.entries<Tensor>(outputs ?? {}).map(([name, value]) => [`o:${name}`, value]),
      ),
      ...Object.fromEntries(names.map((name, i) => [`g:${name}`, found[i]])),
    }
  }
  const isHalved = spec.meanOver !== undefined && (spec.threads ?? 1) > 1
  let metrics: string[] = []
  const program = await compileForSize(
    inputs,
    (all) => {
      const built = build(all)
      metrics = Object.keys(built).filter((name) => !name.startsWith('g:'))
      return built
    },
    {
      name: spec.name ?? 'objective',
      ...(spec.threads === undefined ? {} : { threads: isHalved ? 1 : spec.threads }),
    },
  )
  const gradient = zeroParameters(spec.parameters, spec.gradient)
  const halves = isHalved
    ? createDataParallelSplit(program, spec.inputs, spec.meanOver!, gradient, metrics)
    : undefined
  const into = parameterFeeds(gradient, 'g:')
  /** Feeds of the last given parameters. They are read in place, so they are the same in each call. */
  let given: readonly unknown[] = []
  let parameterValues: Record<string, HostTensor> = {}
  return {
    gradient,
    async evaluate(parameters, feeds, fixed) {
      if (given[0] !== parameters || given[1] !== fixed) {
        given = [parameters, fixed]
        parameterValues = {
          ...parameterFeeds(parameters, 'p:'),
          ...(fixed === undefined ? {} : parameterFeeds(fixed, 'f:')),
        }
      }
      const all = { ...feeds, ...parameterValues }
      const results =
        halves?.divides(feeds) === true ? await halves.evaluate(all) : await program.run(all, into)
      const outputs = {} as Record<string, HostTensor>
      for (const name of Object.keys(results))
        if (name.startsWith('o:')) outputs[name.slice(2)] = results[name]
      return { loss: results['loss'].data[0], outputs }
    },
    async dispose() {
      await halves?.dispose()
      await program.release()
    },
  }
}
