import type { LoadedRuntime } from './runtime.ts'

let loading: Promise<LoadedRuntime> | undefined

/** `runtime.ts` for browsers: loads the WebAssembly build of ONNX Runtime once, with one thread. */
export function loadRuntime(): Promise<LoadedRuntime> {
  loading ??= load()
  return loading
}

async function load(): Promise<LoadedRuntime> {
  const { env, InferenceSession, Tensor } = await import('onnxruntime-web/wasm')
  env.logLevel = 'error'
  // Threads need a cross-origin isolated page (headers COOP and COEP), and do not speed up small networks.
  env.wasm.numThreads = 1
  return { name: 'onnxruntime-web', runtime: { InferenceSession, Tensor } }
}
