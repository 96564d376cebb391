import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

/** Reads lines that a person types, one question at a time. */
export interface LineReader {
  /** Returns the next line after a question; null once the input has ended. */
  ask: (question: string) => Promise<string | null>
  /** True if the input is a terminal, so that a person can be asked. */
  interactive: boolean
  /**
   * Asks a yes/no question and returns true for "y" or "yes". Only a line typed after the question counts; earlier
   * lines stay for `ask`. Returns false at once without a terminal, and after the end of the input.
   */
  confirm: (question: string) => Promise<boolean>
  close: () => void
}

/**
 * Reads lines from standard input; questions go to standard error. Early lines are queued, so that a whole conversation
 * can be piped in. An abort ends the input.
 */
export function createLineReader(
  signal: AbortSignal,
  input: Readable & { isTTY?: boolean } = process.stdin,
  output: Writable = process.stderr,
): LineReader {
  const interactive = input.isTTY === true
  const lines = createInterface({ input, output, terminal: interactive })
  const waiting: (string | null)[] = []
  let taker: ((line: string | null) => void) | null = null
  const offer = (line: string | null): void => {
    if (taker === null) waiting.push(line)
    else taker(line)
    taker = null
  }
  lines.on('line', offer)
  lines.once('close', () => offer(null))
  // In raw mode readline handles Ctrl-C itself, but the program must receive it.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  signal.addEventListener('abort', () => lines.close(), { once: true })
  /** Returns the next line. After the end of the input it always returns null. */
  const nextLine = (): Promise<string | null> =>
    new Promise((resolve) => {
      taker = (line) => {
        if (line === null) waiting.push(null)
        resolve(line)
      }
    })
  return {
    interactive,
    ask: (question) => {
      output.write(question)
      if (waiting[0] === null) return Promise.resolve(null)
      const next = waiting.shift()
      return next === undefined ? nextLine() : Promise.resolve(next)
    },
    confirm: async (question) => {
      if (!interactive || waiting.includes(null)) return false
      output.write(question)
      return /^y(es)?$/i.test((await nextLine())?.trim() ?? '')
    },
    close: () => lines.close(),
  }
}
