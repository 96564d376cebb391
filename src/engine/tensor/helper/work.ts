import { AgogeError } from '../../../error.ts'
import type { InputSignature } from '../bindings.ts'
import type { DType, HostTensor } from '../node.ts'
import type { Device } from '../onnx/session.ts'
import type { Plan } from '../wasm/plan.ts'

/** The shared buffer of both threads, [4]: how often each has reached the barrier, whether one has failed, the command. */
export const cells = { met: 0, failed: 2, command: 3 } as const

/** Number of polls before sleeping, about the time between two steps of a learner. */
const looks = 50_000

/**
 * Makes the barrier of one of two threads, `rank` 0 or 1. It returns when both threads have called it equally
 * often. One thread then sees all that the other wrote before the call.
 *
 * @param patience milliseconds
 * @throws AgogeError `thread-stopped` if the other thread has failed or does not arrive in time
 */
export function createBarrier(control: Int32Array, rank: 0 | 1, patience = Infinity): () => void {
  const other = cells.met + 1 - rank
  let times = Atomics.load(control, cells.met + rank)
  const isThere = (): boolean => Atomics.load(control, other) - times >= 0
  return () => {
    Atomics.store(control, cells.met + rank, ++times)
    Atomics.notify(control, cells.met + rank)
    for (let look = 0; look < looks && !isThere(); look++);
    for (;;) {
      const seen = Atomics.load(control, other)
      if (Atomics.load(control, cells.failed) !== 0) throw stopped('it has failed')
      if (seen - times >= 0) return
      if (Atomics.wait(control, other, seen, patience) === 'timed-out')
        throw stopped(`nothing was heard for ${patience / 1000} s`)
    }
  }
}

/** The other thread is not waited for any more. */
export function giveUp(control: Int32Array, rank: 0 | 1): void {
  Atomics.store(control, cells.failed, 1)
  Atomics.add(control, cells.met + rank, 1)
  Atomics.notify(control, cells.met + rank)
}

function stopped(given: string): AgogeError {
  return new AgogeError('The other thread of a learner has stopped', {
    code: 'thread-stopped',
    given,
    expected: 'an answer',
    hint: 'its error is on the standard error above; use --resume, or with one thread',
  })
}

/** A program as plain data: kernels with their plan for fixed sizes, or a model for the runtime. */
export type HelperJob =
  | { kind: 'kernels'; bytes: Uint8Array<ArrayBuffer>; plan: Plan }
  | {
      kind: 'runtime'
      device: Device
      model: Uint8Array
      inputs: readonly InputSignature[]
      outputs: readonly { name: string; dtype: DType }[]
    }

/** An array in shared memory. */
export interface SharedTensor extends HostTensor {
  name: string
}

/** The data of a helper thread. */
export interface HelperWork {
  job: HelperJob
  /** [1]: one of `states`. */
  control: Int32Array
  inputs: readonly SharedTensor[]
  outputs: readonly SharedTensor[]
}

export const states = { starting: 0, idle: 1, asked: 2, failed: 3 } as const

/** Waits until the state differs from `state`. */
export function waitWhile(control: Int32Array, state: number): void {
  for (let look = 0; look < looks; look++) if (Atomics.load(control, 0) !== state) return
  while (Atomics.load(control, 0) === state) Atomics.wait(control, 0, state)
}

export function setState(control: Int32Array, state: number): void {
  Atomics.store(control, 0, state)
  Atomics.notify(control, 0)
}
