import { AgogeError } from '../../../error.ts'
import type { ModelBackend, SampleOptions, SampleOutput, SampleRequest } from '../../model-backend.ts'

export type LockstepRequest = SampleRequest & Omit<SampleOptions, 'signal' | 'onToken'>

/** Samples for programs that run concurrently, in batches that do not depend on their relative speed. */
export interface Lockstep {
  /** `member` is the index of the calling program; `turn` counts its calls. */
  sample(
    member: number,
    turn: number,
    request: LockstepRequest,
    options: { signal: AbortSignal; onToken?: (token: number, logprob: number) => void },
  ): Promise<SampleOutput>
  /** Marks the program of this member as finished. */
  left(member: number): void
}

export interface LockstepOptions {
  backend: Pick<ModelBackend, 'sample'>
  members: number
  /** Seconds after which the batch no longer waits for busy programs. */
  patienceSeconds: number
}

interface Waiting {
  member: number
  turn: number
  request: LockstepRequest
  signal: AbortSignal
  onToken: ((token: number, logprob: number) => void) | undefined
  resolve: (output: SampleOutput) => void
  reject: (error: unknown) => void
  /** Error of a token listener. That listener is removed; the others continue. */
  fault?: { error: unknown }
}

/**
 * Samples all calls in one batch once every running program waits for one, so that timing affects neither the batch nor its
 * order. A program that takes longer than the patience between two calls is left behind. Its next call joins a later batch,
 * where results may differ in the last digit.
 */
export function createLockstep({ backend, members, patienceSeconds }: LockstepOptions): Lockstep {
  const live = new Set(Array.from({ length: members }, (_, member) => member))
  let waiting: Waiting[] = []
  let sampling = false
  let timer: NodeJS.Timeout | undefined

  const everyoneWaits = (): boolean => {
    const here = new Set(waiting.map(({ member }) => member))
    return waiting.length > 0 && [...live].every((member) => here.has(member))
  }

  async function settle(): Promise<void> {
    if (sampling || waiting.length === 0) return
    clearTimeout(timer)
    if (!everyoneWaits()) {
      timer = setTimeout(() => void flush(), patienceSeconds * 1000)
      return
    }
    // A program that makes several calls at once does so within one or two turns of the event loop.
    const count = waiting.length
    await new Promise(setImmediate)
    await new Promise(setImmediate)
    if (waiting.length !== count || !everyoneWaits()) return settle()
    await flush()
  }

  async function flush(): Promise<void> {
    if (sampling || waiting.length === 0) return
    clearTimeout(timer)
    sampling = true
    const batch = waiting
      .filter((one) => !one.signal.aborted)
      .sort((a, b) => a.member - b.member || a.turn - b.turn)
    for (const one of waiting) if (one.signal.aborted) one.reject(one.signal.reason)
    waiting = []
    await sampleBatch(batch)
    sampling = false
    await settle()
  }

  async function sampleBatch(batch: readonly Waiting[]): Promise<void> {
    if (batch.length === 0) return
    const all = new AbortController()
    const isGone = ({ signal, fault }: Waiting): boolean => signal.aborted || fault !== undefined
    const check = (): void => {
      const [{ signal, fault }] = batch
      if (batch.every(isGone)) all.abort(fault === undefined ? signal.reason : fault.error)
    }
    for (const { signal } of batch) signal.addEventListener('abort', check)
    try {
      const { maxTokens, stop, temperature, seed } = batch[0].request
      const outputs = await backend.sample(
        batch.map(({ request }) => request),
        {
          maxTokens,
          stop,
          temperature,
          seed,
          signal: all.signal,
          onToken: (row, token, logprob) => {
            const one = batch[row]
            if (one.fault !== undefined) return
            try {
              one.onToken?.(token, logprob)
            } catch (error) {
              one.fault = { error }
              one.reject(error)
              check()
            }
          },
        },
      )
      batch.forEach((one, i) => one.resolve(outputs[i]))
    } catch (error) {
      // An invalid request must not fail the others.
      const left = batch.filter((one) => !isGone(one))
      for (const { signal, reject } of batch) if (signal.aborted) reject(signal.reason)
      if (AgogeError.isInstance(error) && batch.length > 1) for (const one of left) await sampleBatch([one])
      else for (const one of batch) one.reject(error)
    } finally {
      for (const { signal } of batch) signal.removeEventListener('abort', check)
    }
  }

  return {
    sample: (member, turn, request, { signal, onToken }) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason as Error)
        waiting.push({ member, turn, request, signal, onToken, resolve, reject })
        void settle()
      }),
    left(member) {
      live.delete(member)
      void settle()
    },
  }
}
