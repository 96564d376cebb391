import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { parseForeignJson } from './foreign-json.ts'

/** Bytes of a line that are read at once, and of a document that is read whole. */
export const mostLineBytes = 2 ** 26

/** A line of a text. The last one may lack its end, perhaps because whoever wrote it was killed. */
export interface ForeignText {
  line: number
  text: string | undefined
  isEnded: boolean
}

/**
 * The lines of a text file that somebody else may have written, one after the other; undefined for one that is too long. Empty lines are left out.
 * Needs the memory of a line, however large the file.
 *
 * @param most bytes of a line. Default: 64 MiB.
 */
export async function* foreignTexts(path: string, most = mostLineBytes): AsyncGenerator<ForeignText> {
  let line = 0
  for await (const { bytes, isEnded } of linesOf(path, most)) {
    line += 1
    const text = bytes?.toString('utf8').replace(/^\uFEFF/, '')
    if (text === undefined || text.trim() !== '') yield { line, text, isEnded }
  }
}

/** A line of a JSONL file: its value, or what is wrong with it. */
export type ForeignLine = { line: number } & ({ value: unknown } | { problem: string })

/** The JSON of such lines. */
export async function* foreignLines(path: string, most = mostLineBytes): AsyncGenerator<ForeignLine> {
  for await (const { line, text } of foreignTexts(path, most))
    yield text === undefined
      ? { line, problem: `it is longer than ${most} bytes` }
      : { line, ...parsedLine(text) }
}

function parsedLine(text: string): { value: unknown } | { problem: string } {
  try {
    return { value: parseForeignJson(text) }
  } catch {
    return { problem: 'it is not JSON, or nested too deep' }
  }
}

/** The bytes of each line; undefined for one that is too long. */
async function* linesOf(
  path: string,
  most: number,
): AsyncGenerator<{ bytes: Buffer | undefined; isEnded: boolean }> {
  let pieces: Buffer[] = []
  let size = 0
  const ended = (): Buffer | undefined => {
    const whole = size > most ? undefined : Buffer.concat(pieces)
    pieces = []
    size = 0
    return whole
  }
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let from = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      add(chunk.subarray(from, end))
      yield { bytes: ended(), isEnded: true }
      from = end + 1
    }
    add(chunk.subarray(from))
  }
  if (size > 0) yield { bytes: ended(), isEnded: false }

  function add(piece: Buffer): void {
    size += piece.length
    // What is too long already is not kept.
    if (size <= most) pieces.push(piece)
    else pieces = []
  }
}

/**
 * The values at some paths of one JSON document, one after the other, such as `$.spans.*`. Needs the memory of a value, however large
 * the file.
 *
 * @throws SyntaxError for a text that is not JSON
 */
export async function* foreignElements(path: string, paths: readonly string[]): AsyncGenerator {
  // Loaded when needed: most files are read line by line.
  const { JSONParser } = await import('@streamparser/json')
  let found: unknown[] = []
  let fault: Error | undefined
  const parser = new JSONParser({ paths: [...paths], keepStack: false })
  parser.onValue = ({ value }) => void found.push(value)
  parser.onError = (error) => {
    fault = error
  }
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    parser.write(chunk)
    if (fault !== undefined) throw new SyntaxError(fault.message)
    yield* found
    found = []
  }
  if (!parser.isEnded) throw new SyntaxError('the document ends too early')
}

/** The first line of a file, or as many bytes of it as are read at once. */
export async function firstLine(path: string, most = mostLineBytes): Promise<string> {
  const file = await open(path)
  try {
    const pieces: Buffer[] = []
    for (let at = 0; at < most;) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(2 ** 16), 0, 2 ** 16, at)
      if (bytesRead === 0) break
      const end = buffer.subarray(0, bytesRead).indexOf(10)
      pieces.push(buffer.subarray(0, end < 0 ? bytesRead : end))
      at += bytesRead
      if (end >= 0) break
    }
    return Buffer.concat(pieces)
      .toString('utf8')
      .replace(/^\uFEFF/, '')
  } finally {
    await file.close()
  }
}
