#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8'
import { describeError } from './shared/describe-error.ts'
import { watchInterrupts } from './shared/interrupt.ts'
import { runCli } from './run-cli.ts'

// Every run of a program leaves megabytes, and V8 would look through everything it holds at every second step of training.
setFlagsFromString('--heap-growing-percent=300')

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Results are written when the work is done: a reader that has seen enough of them (`agoge envs | head`) is no error.
  if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0)
  process.stderr.write(`${describeError(error, false)}\n`)
  process.exit(1)
})
let heard = true
process.stderr.on('error', (error: NodeJS.ErrnoException) => {
  // Nobody looks at the progress any more (`agoge train 2>&1 | head`): the work goes on all the same.
  heard = false
  // Where standard error fails otherwise there is nobody left to tell.
  if (error.code !== 'EPIPE') process.exit(1)
})
const tell = (text: string): void => {
  if (heard) process.stderr.write(text)
}

const words = process.argv.slice(2)
const interrupts = watchInterrupts(() => {
  tell('\nstopping at the next safe moment; Ctrl-C again ends at once\n')
})
process.exitCode = await runCli(words, {
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => tell(`${text}\n`),
  progress: {
    write: tell,
    isTTY: process.stderr.isTTY,
    get columns() {
      return process.stderr.columns
    },
  },
  signal: interrupts.signal,
  debug: words.includes('--debug'),
})
interrupts.stop()
