import { CommanderError } from 'commander'
import { visibleText } from '../untrusted/visible-text.ts'
import type { Console } from './shared/console.ts'
import { describeError } from './shared/describe-error.ts'
import { Interrupted, interruptedCode } from './shared/interrupt.ts'
import { createProgram } from './program.ts'

/**
 * Runs a command line and prints its errors.
 *
 * @returns the exit code: 0, 1 for bad input or failure, 2 for a missed threshold, 130 after an interrupt.
 */
export async function runCli(words: readonly string[], given: Console): Promise<number> {
  const terminal = harmless(given)
  let code = 0
  const program = createProgram(terminal, ['agoge', ...words].join(' '), (exitCode) => {
    code = exitCode
  })
  try {
    // `--debug` is accepted before and after the command, so it is removed here.
    await program.parseAsync(
      words.filter((word) => word !== '--debug'),
      { from: 'user' },
    )
    return code
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode
    if (!terminal.signal.aborted) {
      terminal.err(describeError(error, terminal.debug))
      return 1
    }
    if (terminal.debug && !(error instanceof Interrupted)) terminal.err(describeError(error, true))
    terminal.err('interrupted; what was finished is kept')
    return interruptedCode
  }
}

/**
 * Printed text may quote a server, a model or a file. Control sequences are removed so that it cannot steer the
 * terminal.
 */
function harmless(terminal: Console): Console {
  return {
    ...terminal,
    out: (text) => terminal.out(visibleText(text)),
    err: (text) => terminal.err(visibleText(text)),
  }
}
