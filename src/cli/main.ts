#!/usr/bin/env node
import { CommanderError } from 'commander'
import { describeError } from './describe-error.ts'
import { Interrupted, interruptedCode, watchInterrupts } from './interrupt.ts'
import { createProgram } from './program.ts'

// A reader that has seen enough (`agoge eval | head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

const typed = process.argv.slice(2)
const debug = typed.includes('--debug')
const interrupts = watchInterrupts(() =>
  process.stderr.write('\nstopping at the next safe moment; Ctrl-C again ends at once\n'),
)
const program = createProgram(
  {
    out: (text) => process.stdout.write(`${text}\n`),
    err: (text) => process.stderr.write(`${text}\n`),
    progress: process.stderr,
    signal: interrupts.signal,
    debug,
  },
  ['agoge', ...typed].join(' '),
  (code) => {
    process.exitCode = code
  },
)
program.exitOverride()
for (const command of program.commands) command.exitOverride()

try {
  // Understood before or after the command.
  await program.parseAsync(
    typed.filter((word) => word !== '--debug'),
    { from: 'user' },
  )
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode
  else if (interrupts.signal.aborted) {
    process.exitCode = interruptedCode
    if (!(error instanceof Interrupted) && error !== interrupts.signal.reason && debug) {
      process.stderr.write(`${describeError(error, true)}\n`)
    }
    process.stderr.write('interrupted; what was finished is kept\n')
  } else {
    process.exitCode = 1
    process.stderr.write(`${describeError(error, debug)}\n`)
  }
} finally {
  interrupts.stop()
}
