import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { trainClassic } from '../train-classic.ts'
import { shortRun } from './short-run.ts'

// A process to be killed: runs in the given folder, and prints a line for each event.
const folder = process.argv[2]
const pause = new Int32Array(new SharedArrayBuffer(4))
const resume = existsSync(join(folder, 'config.json'))
const { agent } = await trainClassic({
  ...shortRun(folder),
  resume,
  onEvent: (event) => {
    process.stdout.write(`${event.type}\n`)
    // Gives the reader time to kill this process before the run ends.
    Atomics.wait(pause, 0, 0, 20)
  },
})
await agent.dispose()
