import { join } from 'node:path'
import type { ClassicAlgorithm } from '../../algorithm/agent.ts'
import { trainClassic } from '../train-classic.ts'
import { yieldToEventLoop } from '../learn-until.ts'
import { killedLearners, smallRun } from './short-run.ts'

// A process to be killed: small runs side by side, each in a folder of its own, which take turns. Prints a line whenever
// all of them have come further.
const folder = process.argv[2]
const pause = new Int32Array(new SharedArrayBuffer(4))
const steps = killedLearners.map(() => 0)
let readOnly = 0

/** None gets ahead of the others, however long it takes to make their networks. */
const inStep =
  (algorithm: ClassicAlgorithm, k: number): ClassicAlgorithm =>
  async (...given) => {
    const agent = await algorithm(...given)
    return {
      ...agent,
      async act() {
        while (steps[k] > Math.min(...steps)) await yieldToEventLoop()
        await agent.act()
      },
    }
  }

await Promise.all(
  killedLearners.map(async (name, k) => {
    const run = smallRun(name, join(folder, name))
    const { agent } = await trainClassic({
      ...run,
      algorithm: inStep(run.algorithm, k),
      onEvent(event) {
        if (event.type !== 'step') return
        steps[k]++
        const least = Math.min(...steps)
        if (least > readOnly) process.stdout.write(`${(readOnly = least)}\n`)
        // Long enough for whoever reads it to kill this process before a run is over.
        if (least > 2) Atomics.wait(pause, 0, 0, 30)
      },
    })
    await agent.dispose()
  }),
)
