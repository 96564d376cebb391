import type { Task } from '../agent/index.ts'
import type { TaskSampler } from '../rollout/index.ts'
import type { Job } from './job.ts'
import { pendingFile } from './state.ts'
import { decodeBatch, encodeBatch, sampleBatch } from './sample-batch.ts'
import type { Batch } from './sample-batch.ts'

/**
 * Batches in the order of their numbers, sampled `maxStaleness` steps before they are learnt from. It orders the work as a
 * sampler beside the trainer would, one batch after another, so the run stays the same bit for bit: batch n is sampled with
 * the weights of step n - staleness. What is sampled and not yet learnt from lies in the run folder, for whoever resumes.
 */
export function createBatchQueue<T extends Task>(
  job: Job<T>,
  sampler: TaskSampler<T>,
): { next(): Promise<Batch<T>> } {
  const { state, folder, options } = job
  const { maxStaleness = 0, steps } = options.plan.reinforcement
  const ready = new Map<number, Batch<T>>()
  const sampledBy = (step: number): number => Math.min(step + maxStaleness, steps)
  // After a step all batches up to its staleness ahead are there; before the first, none.
  let sampled = state.step === 0 ? 0 : sampledBy(state.step)
  return {
    async next() {
      while (sampled < Math.min(sampledBy(state.step) + 1, steps)) {
        const batch = await sampleBatch(job, sampler, sampled)
        if (maxStaleness > 0) folder.write(pendingFile(sampled), encodeBatch(batch))
        ready.set(sampled, batch)
        sampled++
      }
      const number = state.step
      const batch =
        ready.get(number) ??
        decodeBatch(folder.read(pendingFile(number)), job, folder.file(pendingFile(number)))
      ready.delete(number)
      return batch
    },
  }
}
