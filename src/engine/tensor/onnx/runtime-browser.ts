import type { LoadedRuntime } from './runtime.ts'

let loading: Promise<LoadedRuntime> | undefined

/** `runtime.ts` for browsers: the build of ONNX Runtime for WebAssembly alone, on one thread, loaded once. */
export function loadRuntime(): Promise<LoadedRuntime> {
  loading ??= load()
  return loading
}

async function load(): Promise<LoadedRuntime> {
  const { env, InferenceSession, Tensor } = await import('onnxruntime-web/wasm')
  env.logLevel = 'error'
  // Threads need a page that is isolated from others (headers COOP and COEP), and gain small networks nothing.
  env.wasm.numThreads = 1
  return { name: 'onnxruntime-web', runtime: { InferenceSession, Tensor } }
}
