import { setFlagsFromString } from 'node:v8'
import { describeError } from './shared/console.ts'
import { watchInterrupts, runCli } from './run-cli.ts'

// Each run of a compiled program allocates megabytes. By default V8 would collect its whole heap at every second
// training step.
setFlagsFromString('--heap-growing-percent=300')

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Results are written when the work is done. A reader that stops early (`agoge envs | head`) is not an error.
  if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0)
  process.stderr.write(`${describeError(error, false)}\n`)
  process.exit(1)
})
let heard = true
process.stderr.on('error', (error: NodeJS.ErrnoException) => {
  // Nobody reads the progress any more (`agoge train 2>&1 | head`), but the work continues.
  heard = false
  // Any other failure of standard error cannot be reported.
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
