import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  writeSync,
} from 'node:fs'

/** Appends lines (without newlines) in one write, after cutting off a torn last line. */
export function appendLines(path: string, lines: readonly string[]): void {
  if (lines.length === 0) return
  const file = openSync(path, 'a+')
  try {
    const end = lastLineEnd(file)
    if (end < fstatSync(file).size) ftruncateSync(file, end)
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
    // A short write is the system's right (and what a nearly full disk does); go on until all is out or it throws.
    for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written)
  } finally {
    closeSync(file)
  }
}

/** The complete lines of a file, in order; none where it does not exist. */
export function readLines(path: string): string[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  lines.pop()
  return lines
}

/** Byte offset just after the last newline. */
function lastLineEnd(file: number): number {
  const chunk = Buffer.alloc(1 << 16)
  for (let end = fstatSync(file).size; end > 0;) {
    const start = Math.max(0, end - chunk.length)
    readSync(file, chunk, 0, end - start, start)
    const newline = chunk.lastIndexOf(10, end - start - 1)
    if (newline >= 0) return start + newline + 1
    end = start
  }
  return 0
}
