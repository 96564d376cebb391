import { createHelper, sharedArray, compileForSize, gradients } from '../tensor/index.ts'
import type { Feeds, Helper, HostTensor, InputSpec, SizedProgram, Tensor } from '../tensor/index.ts'
import { parameterFeeds, zeroParameters } from './parameters.ts'
import type { ParameterSet } from './parameters.ts'
import type { BatchMember } from './batch.ts'

/** With fewer rows, a second thread costs more than it saves. */
const fewest = 64

/** Loss, metrics and gradients that are means over rows, computed as the mean over both halves of the rows. */
interface DataParallelSplit {
  /** Whether feeds can be split in halves. Depends only on their sizes. */
  divides(feeds: Feeds): boolean
  /** Returns the metrics, one number each, and writes the gradient. Null if `divides` returns false. */
  evaluate(feeds: Feeds): Promise<Record<string, HostTensor>>
  dispose(): Promise<void>
}

/**
 * Data parallelism on two threads. The second thread computes the second half of the rows. Until it has
 * started, this thread computes both halves, with bit-identical results.
 *
 * @param program its outputs are `metrics`, one number each, and the gradients, named `g:` plus the parameter
 * @param rows the symbol of the axis that is split, which is the first axis of some inputs
 */
function createDataParallelSplit(
  program: SizedProgram,
  inputs: Readonly<Record<string, InputSpec>>,
  rows: string,
  gradient: ParameterSet,
  metrics: readonly string[],
): DataParallelSplit {
  const halved = Object.keys(inputs).filter((name) => inputs[name].shape[0] === rows)
  const into = parameterFeeds(gradient, 'g:')
  const shared = sharedArray(gradient.data.length)
  const given = shared === null ? null : zeroParameters(gradient.shapes, shared)
  const own = zeroParameters(gradient.shapes)
  const ownInto = parameterFeeds(own, 'g:')
  const numbers: Record<string, HostTensor> = Object.fromEntries(
    metrics.map((name) => [name, { data: sharedArray(1) ?? new Float32Array(1), shape: [] }]),
  )
  let helper: Helper | null | undefined

  function half(feeds: Feeds, which: 0 | 1): Feeds {
    const parts: Record<string, HostTensor> = { ...feeds }
    for (const name of halved) {
      const { data, shape } = feeds[name]
      const size = data.length / 2
      parts[name] = {
        data: data.subarray(which * size, (which + 1) * size),
        shape: [shape[0] / 2, ...shape.slice(1)],
      }
    }
    return parts
  }

  return {
    divides(feeds) {
      const [count] = feeds[halved[0]].shape
      return count >= fewest && count % 2 === 0
    },
    async evaluate(feeds) {
      const [first, second] = [half(feeds, 0), half(feeds, 1)]
      if (helper === undefined)
        helper =
          given === null
            ? null
            : createHelper(program.job(second), second, { ...numbers, ...parameterFeeds(given, 'g:') })
      const started = helper?.start(second) ?? false
      const found = await program.run(first, into)
      let [other, otherGradient] = [numbers, given?.data]
      if (!started || helper?.finish() !== true) {
        other = await program.run(second, ownInto)
        otherGradient = own.data
      }
      average(gradient.data, otherGradient!)
      for (const name of metrics) average(found[name].data as Float32Array, other[name].data as Float32Array)
      return found
    },
    dispose: async () => helper?.dispose(),
  }
}

/** In place. */
function average(a: Float32Array, b: Float32Array): void {
  for (let i = 0; i < a.length; i++) a[i] = 0.5 * (a[i] + b[i])
}

/** What `compileObjective` compiles: the loss and the shapes of everything that it is computed from. */
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
  /** Computes the gradients of several trainings in one call (`createBatch`), with one thread. */
  batch?: BatchMember | undefined
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
  const name = spec.name ?? 'objective'
  const batched = (await spec.batch?.compile(inputs, build, name)) ?? null
  const isHalved = batched === null && spec.meanOver !== undefined && (spec.threads ?? 1) > 1
  let metrics: string[] = []
  const compileAlone = (): Promise<SizedProgram> =>
    compileForSize(
      inputs,
      (all) => {
        const built = build(all)
        metrics = Object.keys(built).filter((output) => !output.startsWith('g:'))
        return built
      },
      { name, ...(spec.threads === undefined ? {} : { threads: isHalved ? 1 : spec.threads }) },
    )
  const alone = batched === null ? await compileAlone() : null
  const program = batched ?? alone!
  const gradient = zeroParameters(spec.parameters, spec.gradient)
  const halves = isHalved
    ? createDataParallelSplit(alone!, spec.inputs, spec.meanOver!, gradient, metrics)
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
