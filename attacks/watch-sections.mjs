// Loaded into an attacked process with `node --import`. Measures the longest section in which its main thread did not return to
// the event loop, in processor time of that thread, so that other work on the machine does not count. Linux only.
//   SECTIONS_FILE   where it writes { longest, from } in milliseconds when the process ends, and whenever the longest grows
//   SECTIONS_LOG    where it appends sections of more than 10 ms: when one began and ended, on the clock of `clock.mjs`, and how long it was
//   SECTIONS_AFTER  a file: sections before it exists are not counted, such as loading the program
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { milliseconds } from './clock.mjs'

const file = process.env.SECTIONS_FILE
const begin = process.env.SECTIONS_AFTER
const log = process.env.SECTIONS_LOG
const everyMilliseconds = 2
const shortest = 10
if (file !== undefined && isMainThread && process.platform === 'linux') {
  // Programs that the attacked one starts are not measured.
  delete process.env.SECTIONS_FILE
  delete process.env.SECTIONS_AFTER
  delete process.env.SECTIONS_LOG
  const schedule = `/proc/self/task/${process.pid}/schedstat`
  /**
   * Processor time of the main thread, in milliseconds. Linux adds to it at ticks and switches: without the first call a millisecond
   * of work may be told as seven, with what was done before it.
   */
  const processorTime = () => {
    process.cpuUsage()
    return Number(readFileSync(schedule, 'latin1').split(' ', 1)[0]) / 1e6
  }
  // The clock first: a pause between the two makes no section longer.
  const look = () => ({ at: milliseconds(), processorTime: processorTime() })
  let begun = begin === undefined
  let longest = 0
  let last = look()
  // Between two looks lies at most the time between them that was spent in short sections, and every long one whole.
  setInterval(() => {
    const present = look()
    // Linux may add what was done before: no section is longer than the time that went by.
    const section = Math.min(present.processorTime - last.processorTime, present.at - last.at)
    if (begun) note(section, present.at)
    else begun = existsSync(begin)
    // What was written here is no section of the attacked.
    last = look()
  }, everyMilliseconds).unref()

  function note(section, ended) {
    if (log !== undefined && section > shortest) appendFileSync(log, `${last.at} ${ended} ${section}\n`)
    if (section <= longest) return
    longest = section
    writeFileSync(file, JSON.stringify({ longest, uptime: process.uptime() }))
  }
}
