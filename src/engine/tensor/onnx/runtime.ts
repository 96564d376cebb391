import type * as OnnxRuntime from 'onnxruntime-node'
import { AgogeError } from '../../../error.ts'

export type Runtime = Pick<typeof OnnxRuntime, 'InferenceSession' | 'Tensor'>
export type Session = OnnxRuntime.InferenceSession

export interface LoadedRuntime {
  name: 'onnxruntime-node' | 'onnxruntime-web'
  runtime: Runtime
}

// ONNX Runtime since 1.29 tells Microsoft of its use (names and hashes of models among it), with an id that it keeps in the home folder and a log for
// every process among the temporary files, unless this stands in the environment before the library is loaded. It is set here, and not where
// it is loaded, since native code does not see what other threads than the first set.
process.env.ORT_DISABLE_TELEMETRY ??= '1'

let loading: Promise<LoadedRuntime> | undefined

/**
 * Loads ONNX Runtime once: the native library, else WebAssembly (about four times slower; a warning says so). Bundlers for
 * browsers take `runtime-browser.ts` in this file's place (package.json, `browser`).
 *
 * @throws AgogeError `missing-runtime` when neither is installed
 */
export function loadRuntime(): Promise<LoadedRuntime> {
  loading ??= findRuntime()
  return loading
}

async function findRuntime(): Promise<LoadedRuntime> {
  let cause: unknown
  if (process.env.AGOGE_RUNTIME !== 'web') {
    try {
      return { name: 'onnxruntime-node', runtime: await importNode() }
    } catch (error) {
      cause = error
    }
  }
  try {
    const web = await loadWeb()
    if (process.env.AGOGE_RUNTIME !== 'web')
      process.emitWarning(
        'onnxruntime-node could not be loaded; using onnxruntime-web, which is several times slower. ' +
          'Repair: npm install onnxruntime-node --ignore-scripts',
      )
    return web
  } catch (error) {
    throw new AgogeError('no ONNX Runtime could be loaded', {
      code: 'missing-runtime',
      expected: 'onnxruntime-node, or onnxruntime-web as a slower replacement',
      hint: 'npm install onnxruntime-node --ignore-scripts',
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
