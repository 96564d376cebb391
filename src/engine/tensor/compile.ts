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
  /** Numbers, or symbols such as 'B' that take their value at each run. */
  shape: Shape
  /** By default float32. */
  dtype?: DType
}

export interface CompileOptions {
  /** Threads inside one operator. By default `AGOGE_THREADS`, else 2: fixed, so that results repeat. */
  threads?: number
  /** Where it runs. Default: `AGOGE_DEVICE`, else the processor. */
  device?: Device
  /** Whether the runtime keeps the memory of a run for the next: quicker, and more memory. Default: true. */
  keepMemory?: boolean
  /** Shown in errors. */
  name?: string
}

/** A compiled graph. Runs may overlap; a released program cannot run. */
export interface Program {
  /**
   * The outputs by name. Feeds are read in place and must not change before the promise settles. Outputs named in `into`
   * are written there, in the shape that they have in this run; others are new arrays, which for large ones that are
   * soon forgotten costs more than it seems (the garbage collector's time).
   */
  run(feeds: Feeds, into?: Feeds): Promise<Record<string, HostTensor>>
  release(): Promise<void>
  /** What another thread needs to run the same. */
  readonly job: HelperJob
  /** Number of operators after simplification. */
  readonly nodes: number
}

// Browsers have no process.
const { process } = globalThis as { process?: NodeJS.Process }
/** Threads that computations take by default: `AGOGE_THREADS`, else 2. */
export const defaultThreads = Math.max(1, Number(process?.env.AGOGE_THREADS ?? 2) || 2)

/**
 * Traces `build`, simplifies the graph and compiles it for ONNX Runtime. Equal graphs share one session.
 *
 * @param inputs shapes and types by name
 * @param build outputs by name, from the traced inputs
 * @throws AgogeError for shapes that do not fit, at the line that combines them
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
