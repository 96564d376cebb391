import type * as OnnxRuntime from 'onnxruntime-node'
import { AgogeError } from '../../../error.ts'

export type Runtime = Pick<typeof OnnxRuntime, 'InferenceSession' | 'Tensor'>
export type Session = OnnxRuntime.InferenceSession

export interface LoadedRuntime {
  name: 'onnxruntime-node' | 'onnxruntime-web'
  runtime: Runtime
}

// Since 1.29, ONNX Runtime sends usage data to Microsoft, including names and hashes of models. It stores an id
// in the home folder and a temporary log file for each process. This variable prevents it, if set before the
// library is loaded. It is set here and not at the import, because native code only sees variables that the
// main thread has set.
process.env.ORT_DISABLE_TELEMETRY ??= '1'

let loading: Promise<LoadedRuntime> | undefined

/**
 * Loads ONNX Runtime once: the native library, or WebAssembly if it is missing, which is about four times
 * slower; a warning says so. WebAssembly gives the same bits on every processor; the native library rounds
 * differently where the processor has AVX-512. Bundlers for browsers replace this file by
 * `runtime-browser.ts` (package.json, `browser`).
 *
 * @throws AgogeError `missing-runtime` if neither is installed
 */
export function loadRuntime(): Promise<LoadedRuntime> {
  loading ??= findRuntime()
  return loading
}

async function findRuntime(): Promise<LoadedRuntime> {
  const asksForWeb = process.env.AGOGE_RUNTIME === 'web'
  let cause: unknown
  if (!asksForWeb) {
    try {
      return { name: 'onnxruntime-node', runtime: await importNode() }
    } catch (error) {
      cause = error
    }
  }
  try {
    const web = await loadWeb()
    if (!asksForWeb)
      process.emitWarning(
        'onnxruntime-node could not be loaded; using onnxruntime-web, which is several times slower. ' +
          'Repair: npm install onnxruntime-node --ignore-scripts',
      )
    return web
  } catch (error) {
    throw new AgogeError('no ONNX Runtime could be loaded', {
      code: 'missing-runtime',
      expected: asksForWeb
        ? 'onnxruntime-web, since AGOGE_RUNTIME is web'
        : 'onnxruntime-node, or onnxruntime-web as a slower replacement',
      hint: asksForWeb ? 'npm install onnxruntime-web' : 'npm install onnxruntime-node --ignore-scripts',
      cause: cause ?? error,
    })
  }
}

async function importNode(): Promise<Runtime> {
  return import('onnxruntime-node')
}

async function loadWeb(): Promise<LoadedRuntime> {
  const { env, InferenceSession, Tensor } = await import('onnxruntime-web')
  env.logLevel = 'error'
  return { name: 'onnxruntime-web', runtime: { InferenceSession, Tensor } }
}
