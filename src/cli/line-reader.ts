import { createInterface } from 'node:readline'

/** Lines typed by a person, one question after the other. */
export interface LineReader {
  /** The next line after a question; null once the input has ended. */
  ask: (question: string) => Promise<string | null>
  close: () => void
}

/**
 * Reads lines from standard input; questions go to standard error. Lines that come before they are asked for wait, so that a whole
 * conversation can be piped in. An abort ends the input.
 */
export function createLineReader(signal: AbortSignal): LineReader {
  const lines = createInterface({
    input: process.stdin,
    output: process.stderr,
    terminal: process.stdin.isTTY === true,
  })
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
  return {
    ask: (question) => {
      process.stderr.write(question)
      // The end of the input stays the answer to every further question.
      if (waiting[0] === null) return Promise.resolve(null)
      const next = waiting.shift()
      if (next !== undefined) return Promise.resolve(next)
      return new Promise((resolve) => {
        taker = (line) => {
          if (line === null) waiting.push(null)
          resolve(line)
        }
      })
    },
    close: () => lines.close(),
  }
}
