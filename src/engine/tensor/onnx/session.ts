import { AgogeError } from '../../../error.ts'
import type { InputSignature } from '../bindings.ts'
import type { DType, Feeds, HostTensor } from '../node.ts'
import { type LoadedRuntime, loadRuntime, type Session } from './runtime.ts'

/** Where programs run: `cpu`; `webgpu`, a GPU by WebGPU (Vulkan, Metal, Direct3D 12); `cuda`, an NVIDIA GPU. */
export const devices = ['cpu', 'webgpu', 'cuda'] as const
/** Where a program runs, one of `devices`. */
export type Device = (typeof devices)[number]

/**
 * The default device: `AGOGE_DEVICE`, or the CPU.
 *
 * @throws AgogeError for an unknown device
 */
export function defaultDevice(): Device {
  // Browsers have no process.
  const { process } = globalThis as { process?: NodeJS.Process }
  const given = process?.env.AGOGE_DEVICE ?? 'cpu'
  const found = devices.find((device) => device === given)
  if (found !== undefined) return found
  throw new AgogeError('AGOGE_DEVICE names no device', {
    code: 'unknown-device',
    given,
    expected: devices.join(', '),
  })
}

const needs: Record<Device, string> = {
  cpu: 'onnxruntime-node',
  webgpu: 'a graphics card with a driver for Vulkan, Metal or Direct3D 12',
  cuda: 'an NVIDIA card with CUDA 12 and cuDNN 9, and the CUDA files of onnxruntime-node',
}

/** The error for a program that cannot be made for a device. */
function deviceError(device: Device, cause: unknown): AgogeError {
  return new AgogeError(`Programs cannot run on ${device} here`, {
    code: 'no-device',
    given: cause instanceof Error ? cause.message : String(cause),
    expected: needs[device],
    hint: 'AGOGE_DEVICE=cpu runs the same programs on the processor',
    cause,
  })
}

type Results = Awaited<ReturnType<Session['run']>>
type Tensor = Results[string]

interface SharedSession {
  /**
   * Runs the model. Returns the outputs by their names in the model, with the prefix `out:`. Outputs in `into`
   * are written there.
   */
  run(
    inputs: readonly InputSignature[],
    feeds: Feeds,
    outputs: readonly { name: string; dtype: DType }[],
    into: Feeds,
  ): Promise<Results>
  /** Frees the session when its last user releases it. */
  release(): Promise<void>
}

interface Entry {
  holders: number
  opening: Promise<{ session: Session; runtime: LoadedRuntime }>
}

/** Only fatal messages. Other errors reach the caller as exceptions. */
const silent = 4

const open = new Map<string, Entry>()

/** Compares bytes directly. A digest would need `node:crypto`, or a secure context in a browser. */
const asText = new TextDecoder('latin1')

interface SessionOptions {
  /** Threads inside one operator. */
  threads: number
  device: Device
  /**
   * Whether the memory of a run is kept for the next one, which is faster. Otherwise a run allocates the live
   * values only and frees them.
   */
  keepMemory: boolean
}

async function create(
  model: Uint8Array,
  { threads, device, keepMemory }: SessionOptions,
): Promise<{ session: Session; runtime: LoadedRuntime }> {
  const runtime = await loadRuntime()
  const session = await runtime.runtime.InferenceSession.create(model, {
    executionProviders: providers(runtime, device),
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    enableCpuMemArena: keepMemory,
    // The runtime stores a pattern for every set of sizes, and sizes change often: slower, and hundreds of
    // megabytes more.
    enableMemPattern: false,
    logSeverityLevel: silent,
  })
  return { session, runtime }
}

/** In order of preference. Operators without a kernel on the device run on the CPU. */
function providers({ name }: LoadedRuntime, device: Device): string[] {
  if (name === 'onnxruntime-node') return [...new Set([device, 'cpu'])]
  if (device === 'cpu') return ['wasm']
  throw deviceError(device, 'onnxruntime-node could not be loaded')
}

/**
 * A session for the model. Equal models share one session.
 *
 * @throws AgogeError `no-device` if a device other than the CPU is not available
 */
export async function acquireSession(model: Uint8Array, options: SessionOptions): Promise<SharedSession> {
  const { threads, device, keepMemory } = options
  const key = `${threads} ${device} ${keepMemory} ${asText.decode(model)}`
  const entry = open.get(key) ?? { holders: 0, opening: create(model, options) }
  open.set(key, entry)
  entry.holders++
  let opened: Awaited<Entry['opening']>
  try {
    opened = await entry.opening
  } catch (error) {
    open.delete(key)
    throw device === 'cpu' || AgogeError.isInstance(error) ? error : deviceError(device, error)
  }
  const { session, runtime } = opened
  // Weights are used in many runs. The runtime's view of an array lives as long as the array.
  const known = new WeakMap<HostTensor, Tensor>()
  const wrap = (value: HostTensor, dtype: DType): Tensor => {
    const found = known.get(value)
    if (found !== undefined && found.data === value.data && found.dims === value.shape) return found
    const tensor = new runtime.runtime.Tensor(dtype, value.data as Float32Array, value.shape)
    known.set(value, tensor)
    return tensor
  }
  return {
    async run(inputs, feeds, outputs, into) {
      const values: Record<string, Tensor> = {}
      for (const { name, dtype } of inputs) values[name] = wrap(feeds[name], dtype)
      const native = runtime.name === 'onnxruntime-node'
      const targets: Record<string, Tensor | null> = {}
      for (const { name, dtype } of outputs) {
        const target = into[name]
        targets[`out:${name}`] = target !== undefined && native ? wrap(target, dtype) : null
      }
      const results = await session.run(values, targets, { logSeverityLevel: silent })
      // WebAssembly returns results in its own memory.
      if (!native)
        for (const [name, target] of Object.entries(into))
          target.data.set(results[`out:${name}`].data as Float32Array)
      return results
    },
    async release() {
      if (--entry.holders > 0) return
      open.delete(key)
      await session.release()
    },
  }
}
