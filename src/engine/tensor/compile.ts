import { AgogeError } from '../../error.ts'
import { bindSizes } from './bindings.ts'
import type { InputSignature } from './bindings.ts'
import type { HelperJob } from './helper/work.ts'
import {
  type DType,
  type Feeds,
  type HostData,
  type HostTensor,
  type Shape,
  type Tensor,
  topologicalOrder,
} from './node.ts'
import { acquireSession, defaultDevice, type Device } from './onnx/session.ts'
import { lowerToOnnx } from './onnx/lower.ts'
import { input } from './operators/constant.ts'
import { simplify } from './simplify.ts'

export interface InputSpec {
  /** Numbers, or symbols such as 'B' whose value may differ between runs. */
  shape: Shape
  /** Default: float32. */
  dtype?: DType
}

export interface CompileOptions {
  /**
   * Threads inside one operator. Default: `AGOGE_THREADS`, or 2. The default does not depend on the machine, so
   * that results repeat.
   */
  threads?: number
  /** Where the program runs. Default: `AGOGE_DEVICE`, or the CPU. */
  device?: Device
  /** Whether the runtime keeps the memory of a run for the next one. This is faster but uses more memory. Default: true. */
  keepMemory?: boolean
  /** Name for errors. */
  name?: string
}

/** A compiled graph. Runs may overlap. A released program cannot run. */
export interface Program {
  /**
   * Runs the program and returns the outputs by name. The feeds are read in place; do not change them before
   * the promise settles. Outputs named in `into` are written there, in their shape of this run. Others are new
   * arrays; avoid these for large short-lived outputs, which cost time in garbage collection.
   */
  run(feeds: Feeds, into?: Feeds): Promise<Record<string, HostTensor>>
  release(): Promise<void>
  /** The plain data that another thread needs to run the same program. */
  readonly job: HelperJob
  /** Number of operators after simplification. */
  readonly nodes: number
}

// Browsers have no process.
const { process } = globalThis as { process?: NodeJS.Process }
/** Default number of threads: `AGOGE_THREADS`, or 2. */
export const defaultThreads = Math.max(1, Number(process?.env.AGOGE_THREADS ?? 2) || 2)

/**
 * Traces `build`, simplifies the graph and compiles it for ONNX Runtime. Equal graphs share one session.
 *
 * @param inputs shapes and types by name
 * @param build returns outputs by name, from the traced inputs
 * @throws AgogeError for shapes that do not fit, at the line that combines them
 *
 * @example
 * const program = await compile({ x: { shape: ['B', 2] } }, ({ x }) => ({ y: sum(mul(x, x), { axes: [1] }) }))
 */
export async function compile(
  inputs: Readonly<Record<string, InputSpec>>,
  build: (inputs: Record<string, Tensor>) => Readonly<Record<string, Tensor>>,
  options: CompileOptions = {},
): Promise<Program> {
  const traced = Object.fromEntries(
    Object.entries(inputs).map(([name, { shape, dtype }]) => [name, input(name, shape, dtype)]),
  )
  const built = build(traced)
  const names = Object.keys(built)
  const outputs = simplify(Object.values(built))
  const name = options.name ?? 'program'
  const { threads = defaultThreads, keepMemory = true, device = defaultDevice() } = options
  const model = lowerToOnnx(
    name,
    traced,
    Object.fromEntries(names.map((key, i) => [key, outputs[i]])),
    device,
  )
  const session = await acquireSession(model, { threads, device, keepMemory }).catch((cause: unknown) => {
    if (AgogeError.isInstance(cause)) throw cause
    throw runtimeError(`${name} could not be compiled`, 'compile-failed', cause)
  })
  const signatures: InputSignature[] = Object.entries(traced).map(([key, { shape, dtype }]) => ({
    name: key,
    shape,
    dtype,
  }))
  const fetched = names.map((key, i) => ({ name: key, dtype: outputs[i].dtype }))
  let released = false

  return {
    job: { kind: 'runtime', model, device, inputs: signatures, outputs: fetched },
    nodes: topologicalOrder(outputs).filter((node) => node.inputs.length > 0).length,
    async run(feeds, into = {}) {
      if (released)
        throw new AgogeError(`${name} was released and cannot run`, {
          code: 'released-program',
          hint: 'compile it again',
        })
      bindSizes(signatures, feeds)
      const results = await session.run(signatures, feeds, fetched, into).catch((cause: unknown) => {
        throw runtimeError(`${name} stopped while running`, 'run-failed', cause)
      })
      return Object.fromEntries(
        names.map((key, i): [string, HostTensor] => {
          const given = into[key]
          if (given !== undefined) return [key, given]
          const { data, dims } = results[`out:${key}`]
          return [key, { data: data as HostData, shape: dims, dtype: outputs[i].dtype }]
        }),
      )
    },
    async release() {
      if (released) return
      released = true
      await session.release()
    },
  }
}

function runtimeError(what: string, code: 'compile-failed' | 'run-failed', cause: unknown): AgogeError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new AgogeError(`${what}: ${reason}`, {
    code,
    given: reason,
    expected: 'a graph and values that ONNX Runtime accepts: indices in range, memory enough',
    cause,
  })
}
