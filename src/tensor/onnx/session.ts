import type { InputSignature } from '../bindings.ts'
import type { Feeds, HostTensor } from '../types.ts'
import { loadRuntime } from './runtime.ts'
import type { LoadedRuntime, Session } from './runtime.ts'

type Results = Awaited<ReturnType<Session['run']>>
type Tensor = Results[string]

export interface SharedSession {
  run(inputs: readonly InputSignature[], feeds: Feeds): Promise<Results>
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

async function create(
  model: Uint8Array,
  threads: number,
): Promise<{ session: Session; runtime: LoadedRuntime }> {
  const runtime = await loadRuntime()
  const session = await runtime.runtime.InferenceSession.create(model, {
    executionProviders: [runtime.name === 'onnxruntime-node' ? 'cpu' : 'wasm'],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    enableCpuMemArena: true,
    enableMemPattern: true,
    logSeverityLevel: silent,
  })
  return { session, runtime }
}

/** A session for the model, shared with every other holder of an equal model. */
export async function acquireSession(model: Uint8Array, threads: number): Promise<SharedSession> {
  const key = `${threads} ${asText.decode(model)}`
  const entry = open.get(key) ?? { holders: 0, opening: create(model, threads) }
  open.set(key, entry)
  entry.holders++
  let opened: Awaited<Entry['opening']>
  try {
    opened = await entry.opening
  } catch (error) {
    open.delete(key)
    throw error
  }
  const { session, runtime } = opened
  // Weights are fed again and again: the runtime's view of a feed lasts as long as the feed.
  const known = new WeakMap<HostTensor, Tensor>()
  return {
    run(inputs, feeds) {
      const values: Record<string, Tensor> = {}
      for (const { name, dtype } of inputs) {
        const feed = feeds[name]
        let tensor = known.get(feed)
        if (tensor === undefined || tensor.data !== feed.data || tensor.dims !== feed.shape) {
          tensor = new runtime.runtime.Tensor(dtype, feed.data as Float32Array, feed.shape)
          known.set(feed, tensor)
        }
        values[name] = tensor
      }
      return session.run(values, { logSeverityLevel: silent })
    },
    async release() {
      if (--entry.holders > 0) return
      open.delete(key)
      await session.release()
    },
  }
}
