import { type PairedWorker, startWorker } from '../../../engine/tensor/index.ts'
import { sacBuffer, type SacBuffer, type SacSizes } from './sac-programs.ts'
import { createSacLearner, type SacLearner, type SacLearnerState } from './sac-learner.ts'

/** Requests to the second thread. A number from 0 on is a gradient step with that many updates of the actor. */
export const asked = { save: -1, load: -2 } as const

/** One learner, or two that act as one. In a pair, each critic has a thread. */
export interface SacWorkerPair extends Pick<SacLearner, 'actor' | 'step' | 'dispose'> {
  readonly buffer: SacBuffer
  /** The state, as of one learner with both critics. */
  state(): SacLearnerState
  restore(state: SacLearnerState): void
}

export async function createSacWorkerPair(sizes: SacSizes, threads: number): Promise<SacWorkerPair> {
  const buffer = threads > 1 ? sacBuffer(sizes, true) : null
  if (buffer === null) return alone(sizes, threads)
  // Both threads compile at the same time.
  const starting = startWorker(import.meta.url, 'sac-worker', { sizes, buffer })
  const found: { worker: PairedWorker | null } = { worker: null }
  const barrier = (): void => found.worker?.barrier()
  const learner = await createSacLearner(sizes, buffer, { rank: 0, of: 2, barrier, threads: 1 })
  found.worker = await starting
  if (found.worker !== null) return batched(buffer, learner, found.worker)
  await learner.dispose()
  return alone(sizes, threads)
}

async function alone(sizes: SacSizes, threads: number): Promise<SacWorkerPair> {
  const buffer = sacBuffer(sizes, false)!
  return {
    buffer,
    ...(await createSacLearner(sizes, buffer, { rank: 0, of: 1, barrier: () => {}, threads })),
  }
}

function batched(buffer: SacBuffer, learner: SacLearner, worker: PairedWorker): SacWorkerPair {
  return {
    buffer,
    actor: learner.actor,
    step(times, updated) {
      worker.ask(times)
      return learner.step(times, updated)
    },
    state() {
      worker.ask(asked.save)
      worker.barrier()
      return joined(learner.state(), worker.receive() as SacLearnerState)
    },
    restore(state) {
      learner.restore(half(state, 0))
      worker.send(half(state, 1))
      worker.ask(asked.load)
      worker.barrier()
    },
    async dispose() {
      await worker.dispose()
      await learner.dispose()
    },
  }
}

function joined(a: SacLearnerState, b: SacLearnerState): SacLearnerState {
  const join = (x: Float32Array, y: Float32Array): Float32Array => {
    const both = new Float32Array(x.length + y.length)
    both.set(x)
    both.set(y, x.length)
    return both
  }
  return {
    ...a,
    critics: join(a.critics, b.critics),
    targets: join(a.targets, b.targets),
    criticAdam: {
      first: join(a.criticAdam.first, b.criticAdam.first),
      second: join(a.criticAdam.second, b.criticAdam.second),
      steps: a.criticAdam.steps,
    },
  }
}

function half(state: SacLearnerState, rank: 0 | 1): SacLearnerState {
  const part = (array: Float32Array): Float32Array =>
    array.slice((rank * array.length) / 2, ((rank + 1) * array.length) / 2)
  const { critics, targets, criticAdam } = state
  return {
    ...state,
    critics: part(critics),
    targets: part(targets),
    criticAdam: { ...criticAdam, first: part(criticAdam.first), second: part(criticAdam.second) },
  }
}
