import { join } from 'node:path'
import type { ClassicAlgorithm } from '../../algorithm/agent.ts'
import { trainClassic } from '../train-classic.ts'
import { yieldToEventLoop } from '../../../event-loop.ts'
import { killedLearners, smallRun } from './short-run.ts'

// A process to be killed: several small runs that take turns, each in its own folder. Prints a line when all of them
// have advanced.
const folder = process.argv[2]
const pause = new Int32Array(new SharedArrayBuffer(4))
const steps = killedLearners.map(() => 0)
let readOnly = 0

/** Keeps the runs at the same step, however long it takes to make their networks. */
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
        // Gives the reader time to kill this process before a run ends.
        if (least > 2) Atomics.wait(pause, 0, 0, 30)
      },
    })
    await agent.dispose()
  }),
)
