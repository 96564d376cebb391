import { runSeed } from './seed-run.ts'
import type { SeedAnswer, SeedJob } from './seed-run.ts'

// Trains one seed in its own process: receives the job, answers once, and exits when the parent does.
process.on('disconnect', () => process.exit(1))
process.once('message', (job: SeedJob) => {
  void runSeed(job)
    .catch((error: unknown): SeedAnswer => ({ error: String(error) }))
    .then((answer) => process.send?.(answer, () => process.exit(0)))
})
