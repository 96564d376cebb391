import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { trainJob } from '../loop.ts'
import { boxJob } from './box-job.ts'

// A process to be killed: works on the run in the given folder and prints a line for each event.
const folder = process.argv[2]
const resume = existsSync(join(folder, 'config.json'))
await trainJob(
  { ...boxJob(folder), resume },
  {
    onEvent: (event) => {
      process.stdout.write(`${event.type}\n`)
    },
  },
)
