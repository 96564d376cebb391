import { compile } from '../compile.ts'
import type { CompileOptions, InputSpec } from '../compile.ts'
import { forRuntime } from '../for-runtime.ts'
import type { HelperJob } from '../helper/work.ts'
import type { Feeds, HostTensor, Tensor } from '../types.ts'
import { simplify } from '../simplify.ts'
import { smallProgram } from './small-program.ts'

/** A compiled graph, wherever it runs. */
export interface SizedProgram {
  /** Values of the outputs by name; those named in `into` are written there and not given back. */
  run(feeds: Feeds, into?: Feeds): Promise<Record<string, HostTensor>>
  /** For feeds of these sizes, what another thread needs to run the same. */
  job(feeds: Feeds): HelperJob
  release(): Promise<void>
}

/**
 * Compiles a graph for where it runs best: kernels of its own in WebAssembly where no parameter has more than 128 x 128
 * numbers and every operator has a kernel, else ONNX Runtime.
 *
 * @param build outputs by name, from the traced inputs
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
