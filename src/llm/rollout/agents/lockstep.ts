import { AgogeError } from '../../../error.ts'
import type { ModelBackend, SampleOptions, SampleOutput, SampleRequest } from '../../model-backend.ts'

export type LockstepRequest = SampleRequest & Omit<SampleOptions, 'signal' | 'onToken'>

/** Samples for programs that run at the same time, in batches that do not depend on which of them is fast. */
export interface Lockstep {
  /** `member` is the index of the program that asks, `turn` counts its calls. */
  sample(
    member: number,
    turn: number,
    request: LockstepRequest,
    options: { signal: AbortSignal; onToken?: (token: number, logprob: number) => void },
  ): Promise<SampleOutput>
  /** Says that the program of this member has come to its end. */
  left(member: number): void
}

export interface LockstepOptions {
  backend: Pick<ModelBackend, 'sample'>
  members: number
  /** After so many seconds nobody waits any longer for programs that are busy with something else. */
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
  /** What its listener threw: it hears no more, and the others go on. */
  fault?: { error: unknown }
}

/**
 * All calls are sampled in one batch as soon as every program that still runs waits for one (or has ended): then neither the batch nor
 * its order says anything of clocks. A program that takes longer than the patience between two calls is left behind; what it asks
 * next is in a later batch, and equal to the last digit only by luck.
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
    // A program that asks several things at once does so within a turn of the event loop or two.
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
      // What is wrong with one request must not fail the others.
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
