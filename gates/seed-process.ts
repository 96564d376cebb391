import { runSeed } from './seed-run.ts'
import type { SeedAnswer, SeedJob } from './seed-run.ts'

// One seed in a process of its own: told its job, answers once; ends when it is left alone.
process.on('disconnect', () => process.exit(1))
process.once('message', (job: SeedJob) => {
  void runSeed(job)
    .catch((error: unknown): SeedAnswer => ({ error: String(error) }))
    .then((answer) => process.send?.(answer, () => process.exit(0)))
})
