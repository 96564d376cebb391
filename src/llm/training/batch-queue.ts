import type { Task } from '../agent/types.ts'
import type { Job } from './job.ts'
import { readChecked, writeChecked } from '../../runs/checked-files.ts'
import { freezeJob } from './overlap.ts'
import { pendingFile } from './state.ts'
import { decodeBatch, encodeBatch, sampleBatch } from './sample-batch.ts'
import type { Batch } from './sample-batch.ts'
import type { BatchTasks } from './types.ts'

export interface BatchQueue<T extends Task> {
  /** The batch of the step that is due. Begins those that may be sampled with the weights of now. */
  next(): Promise<Batch<T>>
  /** Waits for what is being sampled: only then does a checkpoint have all that those who go on from it need. */
  settle(): Promise<void>
  /** Breaks off what is being sampled, and waits for its end. */
  close(): Promise<void>
}

/**
 * Batches in the order of their numbers: batch n is sampled with the weights of step n - `maxStaleness`, one batch after another. So the run is
 * the same, bit for bit, whether sampling is done in between or, with `overlap`, at the same time as the steps in between. What is sampled
 * and not yet learnt from lies in the run folder, for whoever resumes.
 *
 * Where a run that overlapped was stopped while it waited for a batch, nobody has the weights any more that this was being sampled with: then
 * it is sampled with those of now, and a note says so.
 */
export function createBatchQueue<T extends Task>(
  job: Job<T>,
  draw: (number: number) => BatchTasks<T>,
): BatchQueue<T> {
  const { state, folder, options } = job
  const { maxStaleness = 0, overlap = false, steps } = options.plan.reinforcement
  const batches = new Map<number, Promise<Batch<T>>>()
  const stop = new AbortController()
  const sampledBy = (step: number): number => Math.min(step + maxStaleness, steps)
  /** Settles when all that was begun has ended; never rejects. */
  let last: Promise<unknown> = Promise.resolve()
  let fault: { error: unknown } | undefined
  // After a step all batches up to its staleness ahead are begun; before the first, none.
  let begun = state.step === 0 ? 0 : sampledBy(state.step)
  const lost = Array.from({ length: begun - state.step }, (_, i) => state.step + i).filter(
    (number) => overlap && !folder.has(pendingFile(number)),
  )

  async function begin(number: number): Promise<void> {
    const tasks = draw(number)
    const by = overlap ? await freezeJob(job, stop.signal) : job
    const batch = last.then(async () => {
      if (fault !== undefined) throw fault.error
      by.signal?.throwIfAborted()
      const sampled = await sampleBatch(by, tasks, number)
      if (maxStaleness > 0) writeChecked(folder, pendingFile(number), encodeBatch(sampled))
      return sampled
    })
    batches.set(number, batch)
    last = batch.catch((error: unknown) => (fault ??= { error }))
    if (!overlap) await batch
  }

  return {
    async next() {
      if (fault !== undefined) throw fault.error
      for (const number of lost.splice(0)) {
        const text = `batch ${number + 1} was being sampled when the run stopped: it is sampled with newer weights, so from here on this is another run than the uninterrupted one`
        job.emit({ type: 'note', text })
        await begin(number)
      }
      while (begun < Math.min(sampledBy(state.step) + 1, steps)) await begin(begun++)
      const number = state.step
      const file = pendingFile(number)
      const batch = await (batches.get(number) ??
        decodeBatch(readChecked(folder, file), job, folder.file(file)))
      batches.delete(number)
      return batch
    },
    async settle() {
      await last
    },
    async close() {
      stop.abort(new Error('training ended'))
      await last
    },
  }
}
