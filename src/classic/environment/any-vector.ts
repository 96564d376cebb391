import type { VectorEnvironment } from './vector.ts'

/**
 * Slots that are stepped together, at once (a `VectorEnvironment`) or by promises (an `AsyncVectorEnvironment`): what
 * wrappers wrap, learners act in and loops step. Whoever calls it waits where it gives a promise, and only there, so that
 * environments are stepped as quickly as ever.
 */
export interface AnyVector extends Omit<VectorEnvironment, 'reset' | 'step' | 'truncate'> {
  reset(options?: { seed?: number; mask?: Uint8Array; signal?: AbortSignal }): void | Promise<void>
  step(options?: { signal?: AbortSignal }): void | Promise<void>
  truncate(envIndex: number): void | Promise<void>
}

/** Does something after a call of a vector: at once, or when its promise is resolved. */
export function afterwards(
  called: void | Promise<void>,
  next: () => void | Promise<void>,
): void | Promise<void> {
  return called instanceof Promise ? called.then(next) : next()
}
