import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

/** Lines typed by a person, one question after the other. */
export interface LineReader {
  /** The next line after a question; null once the input has ended. */
  ask: (question: string) => Promise<string | null>
  /** Whether a person can be asked: the input is a terminal. */
  interactive: boolean
  /**
   * Whether a person says yes ("y" or "yes") to a question. Only a line typed after the question answers it: lines that came before stay
   * for `ask`. False at once where nobody can be asked, and after the end of the input.
   */
  confirm: (question: string) => Promise<boolean>
  close: () => void
}

/**
 * Reads lines from standard input; questions go to standard error. Lines that come before they are asked for wait, so that a whole
 * conversation can be piped in. An abort ends the input.
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
  // In raw mode readline takes Ctrl-C for itself; it is meant for the program.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  signal.addEventListener('abort', () => lines.close(), { once: true })
  /** The next line that comes; the end of the input stays the answer to every further question. */
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
