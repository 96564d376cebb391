// Sleeps for a quarter of a millisecond again and again, above all other work of one processor. Where it wakes late, that processor stood still:
// a virtual machine was paused by its host, or the system was in a part that nothing may interrupt.
//   node sleeper.mjs FILE PROCESSOR PID
// Appends to the file, for each pause in which the main thread of the process PID was on that processor: when it ended (`clock.mjs`),
// how long it was, and how much of it was counted as processor time of that thread. Ends with that process.
import { appendFileSync, openSync, readSync } from 'node:fs'
import { milliseconds } from './clock.mjs'

const [file, processor, pid] = process.argv.slice(2)
const [period, shortest] = [0.25, 0.25]
const bytes = Buffer.alloc(1024)
const never = new Int32Array(new SharedArrayBuffer(4))
const [schedule, status] = ['schedstat', 'stat'].map((name) => openSync(`/proc/${pid}/task/${pid}/${name}`))

const textOf = (descriptor) => bytes.latin1Slice(0, readSync(descriptor, bytes, 0, bytes.length, 0))
/** Milliseconds. Exact for a thread that the sleeper has just displaced. */
const processorTime = () => Number(textOf(schedule).split(' ', 1)[0]) / 1e6
/** Where the thread is: the 39th value, the 37th after its name in brackets. */
const isHere = () => {
  const text = textOf(status)
  return text.slice(text.lastIndexOf(')') + 2).split(' ', 37)[36] === processor
}

try {
  for (let counted = processorTime(); ;) {
    const before = milliseconds()
    Atomics.wait(never, 0, 0, period)
    const ended = milliseconds()
    const late = ended - before - period
    const present = processorTime()
    if (late > shortest && isHere())
      appendFileSync(file, `${ended} ${late} ${Math.min(late, present - counted)}\n`)
    counted = present
  }
} catch {
  // The process has ended.
}
