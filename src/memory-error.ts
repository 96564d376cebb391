import { AgogeError } from './error.ts'

/** What Node, V8 and ONNX Runtime say when the system gives them no memory. */
const refusals =
  /could not allocate memory|cannot allocate memory|failed to allocate memory|array buffer allocation failed|reaching memory limit|bad_alloc/i

/**
 * The AgogeError for an allocation that the system refused: what was refused and what to do. Returns any other error unchanged.
 *
 * @example
 * try { numbers = new Float32Array(count) } catch (error) { throw asMemoryError(error) }
 */
export function asMemoryError(cause: unknown): unknown {
  if (!(cause instanceof Error) || AgogeError.isInstance(cause) || !refusals.test(cause.message)) return cause
  return new AgogeError('There is not enough memory', {
    code: 'memory-budget',
    given: cause.message,
    expected: 'room for the model and what it computes',
    hint: 'Raise the limit of this process (ulimit -v), close other programs, or compute with one thread (AGOGE_THREADS=1)',
    cause,
  })
}

/** Whether this is how a thread ended that needed more than its heap may have. */
export function isThreadOutOfMemory(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY'
}
