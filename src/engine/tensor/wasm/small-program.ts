import { bindSizes } from '../bindings.ts'
import { compile, type CompileOptions, type InputSpec } from '../compile.ts'
import { forRuntime, simplify } from '../simplify.ts'
import type { HelperJob } from '../helper/helper.ts'
import type { DType, Feeds, HostData, HostTensor, Shape, Tensor } from '../node.ts'
import { input } from '../operators/constant.ts'
import { sizeOf } from '../shape.ts'
import { assembleModule } from './assembler.ts'
import { kernelsOf, planFor, loadModule, type Machine, runnable, type RunnablePlan } from './plan.ts'
import { schedule } from './schedule.ts'

/**
 * A graph that runs synchronously on its own WebAssembly kernels. For small networks, for which a call of the
 * runtime costs more than the computation.
 */
export interface SmallProgram {
  /** Returns copies of the outputs by name. Outputs named in `into` are written there and not returned. */
  run(feeds: Feeds, into?: Feeds): Record<string, HostTensor>
  /** The plan for feeds of these sizes as plain data, so that another thread can run it. */
  job(feeds: Feeds): HelperJob
  /** Number of kernels. */
  readonly nodes: number
}

export interface SmallProgramOptions {
  /** Limit of numbers in an input of fixed size (parameters). Default: 128 x 128. */
  largest?: number
}

/** Number of cached plans, one for each set of sizes. */
const mostPlans = 16

/**
 * Compiles a graph to WebAssembly kernels with four numbers per instruction, on one thread. Results are
 * bit-identical on every machine. Null if the graph is too large to gain by it, or an operator has no kernel;
 * use `compile` then.
 */
export function smallProgram(
  inputs: Readonly<Record<string, { shape: Shape; dtype?: DType }>>,
  build: (inputs: Record<string, Tensor>) => Readonly<Record<string, Tensor>>,
  { largest = 128 * 128 }: SmallProgramOptions = {},
): SmallProgram | null {
  const traced = Object.fromEntries(
    Object.entries(inputs).map(([name, { shape, dtype }]) => [name, input(name, shape, dtype)]),
  )
  const signatures = Object.entries(traced).map(([name, { shape, dtype }]) => ({ name, shape, dtype }))
  const isLarge = (shape: Shape): boolean =>
    shape.every((dim) => typeof dim === 'number') && sizeOf(shape) > largest
  if (signatures.some(({ shape }) => isLarge(shape))) return null
  const built = build(traced)
  const names = Object.keys(built)
  const found = schedule(simplify(Object.values(built)))
  if (found === null) return null
  const bytes = assembleModule(kernelsOf(found))
  let machine: Machine | undefined
  const plans = new Map<string, RunnablePlan>()
  let prepared: RunnablePlan | undefined
  let views: readonly Float32Array[] = []

  function planned(feeds: Feeds): RunnablePlan {
    const bindings = bindSizes(signatures, feeds)
    const key = [...bindings.values()].join()
    const known = plans.get(key)
    if (known !== undefined) return known
    if (plans.size >= mostPlans) plans.clear()
    const plan = planFor(found!, names, bindings)
    // A fixed size. Growing memory makes every typed array slower.
    if (machine === undefined || machine.numbers.length < plan.size) machine = loadModule(bytes, plan.size)
    const made = runnable(plan, machine)
    plans.set(key, made)
    return made
  }

  return {
    nodes: found.tasks.length,
    job: (feeds) => ({ kind: 'kernels', bytes, plan: planned(feeds).plan }),
    run(feeds, into = {}) {
      const runs = planned(feeds)
      const { inputs: read, outputs } = runs.plan
      const { numbers } = runs.machine
      // Plans share the memory.
      if (runs !== prepared) {
        runs.prepare()
        prepared = runs
        views = outputs.map(({ at, size }) => numbers.subarray(at, at + size))
      }
      for (const { name, at } of read) numbers.set(feeds[name].data, at)
      runs.run()
      const results: Record<string, HostTensor> = {}
      outputs.forEach(({ name, shape, dtype }, i) => {
        const target = into[name]
        if (target === undefined) results[name] = { data: converted(views[i].slice(), dtype), shape, dtype }
        else target.data.set(views[i])
      })
      return results
    },
  }
}

function converted(data: Float32Array, dtype: DType): HostData {
  if (dtype === 'float32') return data
  if (dtype === 'int32') return Int32Array.from(data)
  return dtype === 'int8' ? Int8Array.from(data) : Uint8Array.from(data)
}

/** A compiled graph on either runtime. */
export interface SizedProgram {
  /** Returns the outputs by name. Outputs named in `into` are written there and not returned. */
  run(feeds: Feeds, into?: Feeds): Promise<Record<string, HostTensor>>
  /** The data that another thread needs to run the same program for feeds of these sizes. */
  job(feeds: Feeds): HelperJob
  release(): Promise<void>
}

/**
 * Compiles a graph for the faster runtime: WebAssembly kernels if no parameter has more than 128 x 128 numbers
 * and every operator has a kernel, otherwise ONNX Runtime.
 *
 * @param build returns outputs by name, from the traced inputs
 */
export async function compileForSize(
  inputs: Readonly<Record<string, InputSpec>>,
  build: (inputs: Record<string, Tensor>) => Readonly<Record<string, Tensor>>,
  options: CompileOptions = {},
): Promise<SizedProgram> {
  const small = smallProgram(inputs, build)
  if (small !== null)
    return {
      run: (feeds, into) => new Promise((resolve) => resolve(small.run(feeds, into))),
      job: (feeds) => small.job(feeds),
      release: () => Promise.resolve(),
    }
  const program = await compile(
    inputs,
    (given) => {
      const built = build(given)
      const outputs = forRuntime(simplify(Object.values(built)))
      return Object.fromEntries(Object.keys(built).map((name, i) => [name, outputs[i]]))
    },
    options,
  )
  return {
    async run(feeds, into = {}) {
      const results = await program.run(feeds, into)
      for (const name of Object.keys(into)) delete results[name]
      return results
    },
    job: () => program.job,
    release: () => program.release(),
  }
}
