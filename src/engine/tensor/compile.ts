import { AgogeError } from '../../error.ts'
import { bindSizes } from './bindings.ts'
import type { InputSignature } from './bindings.ts'
import type { HelperJob } from './helper/helper.ts'
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

/** The shape and the type of an input of a program. */
export interface InputSpec {
  /** Sizes of the axes: numbers, or symbols such as 'B'. The value of a symbol may differ between runs. */
  shape: Shape
  /** Default: float32. */
  dtype?: DType
}

/** Options of `compile`. */
export interface CompileOptions {
  /**
   * Threads that one operator uses. Default: `AGOGE_THREADS`, or 2. It does not depend on the machine, so that results
   * do not depend on the number of cores.
   */
  threads?: number
  /** Where the program runs. Default: `AGOGE_DEVICE`, or the CPU. */
  device?: Device
  /** Whether the runtime reuses its memory in the next run. True is faster but holds more memory. Default: true. */
  keepMemory?: boolean
  /** Name of the program in errors. Default: "program". */
  name?: string
}

/** A compiled graph. Several runs may be in progress at once. */
export interface Program {
  /**
   * Runs the program and returns the outputs by name. The feeds are not copied: do not change them before the promise
   * settles.
   *
   * @param feeds the inputs by name.
   * @param into tensors to write outputs to, by name. Their shape must be that of the output in this run. An output that
   *   is not named here is a new array. For large outputs, reuse tensors to save time in garbage collection.
   */
  run(feeds: Feeds, into?: Feeds): Promise<Record<string, HostTensor>>
  /** Frees the program. It cannot run afterwards. */
  release(): Promise<void>
  /** The program as plain data, with which another thread can run it. */
  readonly job: HelperJob
  /** Number of operators in the simplified graph. Inputs and constants do not count. */
  readonly nodes: number
}

// Browsers have no process.
const { process } = globalThis as { process?: NodeJS.Process }
/** Default number of threads: `AGOGE_THREADS`, or 2. */
export const defaultThreads = Math.max(1, Number(process?.env.AGOGE_THREADS ?? 2) || 2)

/**
 * Traces `build`, simplifies the graph and compiles it for ONNX Runtime. Equal graphs share one session.
 *
 * @param inputs shapes and types of the inputs, by name.
 * @param build computes the outputs from the inputs, both by name. It is called once.
 * @throws AgogeError for shapes that do not match. The stack trace points at the line in `build`.
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
  const outputNodes = build(traced)
  const outputNames = Object.keys(outputNodes)
  const outputs = simplify(Object.values(outputNodes))
  const name = options.name ?? 'program'
  const { threads = defaultThreads, keepMemory = true, device = defaultDevice() } = options
  const model = lowerToOnnx(
    name,
    traced,
    Object.fromEntries(outputNames.map((key, i) => [key, outputs[i]])),
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
  const outputTypes = outputNames.map((key, i) => ({ name: key, dtype: outputs[i].dtype }))
  let released = false

  return {
    job: { kind: 'runtime', model, device, inputs: signatures, outputs: outputTypes },
    nodes: topologicalOrder(outputs).filter((node) => node.inputs.length > 0).length,
    async run(feeds, into = {}) {
      if (released)
        throw new AgogeError(`${name} was released and cannot run`, {
          code: 'released-program',
          hint: 'compile it again',
        })
      bindSizes(signatures, feeds)
      const results = await session.run(signatures, feeds, outputTypes, into).catch((cause: unknown) => {
        throw runtimeError(`${name} stopped while running`, 'run-failed', cause)
      })
      return Object.fromEntries(
        outputNames.map((key, i): [string, HostTensor] => {
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
