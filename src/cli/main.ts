#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8'
import { describeError } from './describe-error.ts'
import { watchInterrupts } from './interrupt.ts'
import { runCli } from './run-cli.ts'

// Every run of a program leaves megabytes, and V8 would look through everything it holds at every second step of training.
setFlagsFromString('--heap-growing-percent=300')

for (const stream of [process.stdout, process.stderr]) {
  // A reader that has seen enough (`agoge eval | head`) is no error.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    // Where standard error itself fails there is nobody left to tell.
    if (stream === process.stdout) process.stderr.write(`${describeError(error, false)}\n`)
    process.exit(1)
  })
}

const words = process.argv.slice(2)
const interrupts = watchInterrupts(() => {
  process.stderr.write('\nstopping at the next safe moment; Ctrl-C again ends at once\n')
})
process.exitCode = await runCli(words, {
  out: (text) => process.stdout.write(`${text}\n`),
  err: (text) => process.stderr.write(`${text}\n`),
  progress: process.stderr,
  signal: interrupts.signal,
  debug: words.includes('--debug'),
})
interrupts.stop()
