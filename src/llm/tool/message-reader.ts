import { deserializeMessage, type JSONRPCMessage } from '@modelcontextprotocol/client'

interface MessageReaderOptions {
  onMessage: (message: JSONRPCMessage) => void
  /** A line of JSON that is no message. Other lines are skipped: programs log to standard output. */
  onError: (error: Error) => void
  /** A line that is not read, as a clause: nothing more can be. */
  onRefused: (why: string) => void
  /** Called with true when more than one turn is waiting, and with false when all has been read. */
  onFull: (full: boolean) => void
}

export interface MessageReader {
  push(chunk: Buffer): void
  /** Calls back when everything that was pushed has been read. */
  end(done: () => void): void
  /** Reads nothing more. */
  stop(): void
}

/** Longest line, and most values in one. A message with more of either would take too long to parse. */
const longestLine = 10_000_000
const mostValues = 250_000
/** A line below this is short enough whatever it has. */
const shortLine = 500_000
/** Milliseconds of reading before others take their turn. */
const turn = 10

const [lineBreak, brace, bracket, comma, quote, backslash] = [...Buffer.from('\n{[,"\\')]

/**
 * Reads messages of JSON-RPC, one a line, from a stream of bytes. A flood of lines is read in turns: between two of them
 * the event loop runs, and the stream is to be paused.
 */
export function createMessageReader(options: MessageReaderOptions): MessageReader {
  const waiting: Buffer[] = []
  let parts: Buffer[] = []
  let size = 0
  let scheduled = false
  let stopped = false
  let ended: (() => void) | undefined

  function refuse(why: string): void {
    stop()
    options.onRefused(why)
  }

  function stop(): void {
    stopped = true
    waiting.length = 0
    parts = []
  }

  function readLine(line: Buffer): void {
    if (!isObject(line)) return
    if (line.length > shortLine && valuesOf(line) > mostValues) {
      refuse(`it sent a message of more than ${mostValues} values`)
      return
    }
    let message: JSONRPCMessage
    try {
      message = deserializeMessage(line.toString('utf8'))
    } catch (error) {
      // A line in braces that is no JSON is a log like any other.
      if (!(error instanceof SyntaxError)) options.onError(error as Error)
      return
    }
    options.onMessage(message)
  }

  /** Reads a line of what waits. Returns false if it has no whole one. */
  function readNext(): boolean {
    const [chunk] = waiting
    if (chunk === undefined) return false
    const at = chunk.indexOf(lineBreak)
    const part = at < 0 ? chunk : chunk.subarray(0, at)
    parts.push(part)
    size += part.length
    if (size > longestLine) {
      refuse(`it sent a line of more than ${longestLine} bytes`)
      return false
    }
    if (at < 0 || at === chunk.length - 1) waiting.shift()
    else waiting[0] = chunk.subarray(at + 1)
    if (at < 0) return true
    const line = parts.length === 1 ? parts[0] : Buffer.concat(parts)
    parts = []
    size = 0
    readLine(line)
    return true
  }

  function readTurn(): void {
    scheduled = false
    const until = performance.now() + turn
    while (readNext()) {
      if (performance.now() < until) continue
      scheduled = true
      options.onFull(true)
      setImmediate(readTurn)
      return
    }
    if (!stopped) options.onFull(false)
    ended?.()
  }

  return {
    push(chunk) {
      if (stopped) return
      waiting.push(chunk)
      if (!scheduled) readTurn()
    },
    end(done) {
      ended = done
      if (!scheduled) done()
    },
    stop,
  }
}

/** Whether the first character that is no white space begins an object. */
function isObject(line: Buffer): boolean {
  const at = line.findIndex((byte) => byte > 32)
  return line[at] === brace
}

/** At least the number of values of a line of JSON. */
function valuesOf(line: Buffer): number {
  let count = 0
  let inText = false
  // Ten times as fast as an iterator.
  for (let at = 0; at < line.length; at++) {
    const byte = line[at]
    if (inText) {
      if (byte === backslash) at++
      else if (byte === quote) inText = false
    } else if (byte === quote) inText = true
    else if (byte === comma || byte === brace || byte === bracket) count++
  }
  return count
}
