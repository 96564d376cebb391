import { AgogeError } from '../../../error.ts'
import type { InputSignature } from '../bindings.ts'
import type { DType, Feeds, HostTensor } from '../node.ts'
import { type LoadedRuntime, loadRuntime, type Session } from './runtime.ts'

/** Where programs run: this machine's processor; a graphics card by WebGPU (Vulkan, Metal, Direct3D 12); one of NVIDIA's by CUDA. */
export const devices = ['cpu', 'webgpu', 'cuda'] as const
export type Device = (typeof devices)[number]

/**
 * Where programs run by default: `AGOGE_DEVICE`, else the processor.
 *
 * @throws AgogeError for names of no device
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

/** That a program cannot be made for a device. */
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
  /** Gives the outputs by their names in the model, `out:` before each; those in `into` are written there. */
  run(
    inputs: readonly InputSignature[],
    feeds: Feeds,
    outputs: readonly { name: string; dtype: DType }[],
    into: Feeds,
  ): Promise<Results>
  /** The last holder's release frees the session. */
  release(): Promise<void>
}

interface Entry {
  holders: number
  opening: Promise<{ session: Session; runtime: LoadedRuntime }>
}

/** Only fatal messages: errors reach the caller as exceptions, once. */
const silent = 4

const open = new Map<string, Entry>()

/** Tells bytes apart one by one; a digest would need `node:crypto`, or a page that counts as secure. */
const asText = new TextDecoder('latin1')

interface SessionOptions {
  /** Inside one operator. */
  threads: number
  device: Device
  /** Whether the memory of a run is kept for the next, which is quicker; without, a run takes what is alive at once and gives it back. */
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
    // Patterns are kept for every set of sizes, and sizes change from run to run: slower, and hundreds of megabytes more.
    enableMemPattern: false,
    logSeverityLevel: silent,
  })
  return { session, runtime }
}

/** In the order of preference: what a device has no kernel for runs on the processor. */
function providers({ name }: LoadedRuntime, device: Device): string[] {
  if (name === 'onnxruntime-node') return [...new Set([device, 'cpu'])]
  if (device === 'cpu') return ['wasm']
  throw deviceError(device, 'onnxruntime-node could not be loaded')
}

/**
 * A session for the model, shared with every other holder of an equal model.
 *
 * @throws AgogeError `no-device` where another device than the processor cannot be used
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
  // Weights are fed again and again: the runtime's view of an array lasts as long as its owner.
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
      // In WebAssembly results lie in another memory.
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
