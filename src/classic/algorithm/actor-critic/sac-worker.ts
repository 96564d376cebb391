import { joinWorker } from '../../../engine/tensor/helper/paired-thread.ts'
import type { SacBuffer, SacSizes } from './sac-programs.ts'
import { createSacLearner, type SacLearnerState } from './sac-learner.ts'
import { asked } from './sac-worker-pair.ts'

// Imported from the file, because the index is for browsers too.
await joinWorker(async (data, { barrier, send, receive }) => {
  const { sizes, buffer } = data as { sizes: SacSizes; buffer: SacBuffer }
  const learner = await createSacLearner(sizes, buffer, { rank: 1, of: 2, barrier, threads: 1 })
  return (command) => {
    if (command >= 0) return learner.step(command)
    if (command === asked.save) send(learner.state())
    else learner.restore(receive() as SacLearnerState)
    barrier()
  }
})
