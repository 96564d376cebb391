import { appendFileSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withFileErrors } from '../../runs/files.ts'
import { removeFolder } from '../../runs/temporary-folder.ts'
import { foreignLines } from '../../untrusted/foreign-stream.ts'
import type { OtlpLog, OtlpSpan } from './otlp.ts'

/** What is kept of a trace until all of it has been read. */
export type SpooledPart = { type: 'span'; span: OtlpSpan } | { type: 'log'; log: OtlpLog }

/** Spans in the order of a file, to be read trace by trace. */
export interface Spool {
  add: (part: SpooledPart) => void
  /** Each trace once, those of a share of the ids after each other. */
  traces: () => AsyncGenerator<SpooledPart[]>
  close: () => Promise<void>
}

/** Bytes of input for each share of the traces, of which one is in memory at a time. */
const shareBytes = 2 ** 25
/** Characters that wait for their file, in all. */
const mostWaiting = 2 ** 22
const mostShares = 1024

/**
 * The spans of a trace may lie anywhere in a file. A small input is kept in memory; of a large one, the spans are divided by their trace id
 * into files of a temporary folder that only this user may read, so that only one of these is in memory at a time.
 *
 * @param bytes size of the input.
 */
export function createSpool(bytes: number, share = shareBytes): Spool {
  const shares = Math.min(mostShares, Math.ceil(bytes / share))
  return shares > 1 ? spoolInFiles(shares) : spoolInMemory()
}

function spoolInMemory(): Spool {
  const parts: SpooledPart[] = []
  return {
    add: (part) => void parts.push(part),
    async *traces() {
      yield* byTrace(parts)
    },
    close: () => Promise.resolve(),
  }
}

function spoolInFiles(shares: number): Spool {
  const folder = withFileErrors(tmpdir(), () => mkdtempSync(join(tmpdir(), 'agoge-import-')))
  const waiting = Array.from({ length: shares }, (): string[] => [])
  let size = 0
  const fileOf = (share: number): string => join(folder, `${share}.jsonl`)
  const flush = (): void => {
    for (const [share, lines] of waiting.entries())
      if (lines.length > 0)
        withFileErrors(folder, () => appendFileSync(fileOf(share), lines.join(''), { mode: 0o600 }))
    for (const lines of waiting) lines.length = 0
    size = 0
  }
  return {
    add(part) {
      const line = `${JSON.stringify(part)}\n`
      waiting[Number.parseInt(traceOf(part).slice(-6), 16) % shares].push(line)
      size += line.length
      if (size > mostWaiting) flush()
    },
    async *traces() {
      flush()
      for (let share = 0; share < shares; share += 1) {
        const parts: SpooledPart[] = []
        for await (const line of linesOf(fileOf(share))) parts.push(line)
        yield* byTrace(parts)
      }
    },
    close: () => removeFolder(folder),
  }
}

/** The lines of a file that this process wrote; none if nothing fell to it. */
async function* linesOf(file: string): AsyncGenerator<SpooledPart> {
  try {
    for await (const line of foreignLines(file, Infinity))
      if ('value' in line) yield line.value as SpooledPart
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

const traceOf = (part: SpooledPart): string => (part.type === 'span' ? part.span : part.log).traceId

/** The parts by trace, in the order in which the traces began. */
function* byTrace(parts: readonly SpooledPart[]): Generator<SpooledPart[]> {
  const traces = new Map<string, SpooledPart[]>()
  for (const part of parts) {
    const known = traces.get(traceOf(part))
    if (known === undefined) traces.set(traceOf(part), [part])
    else known.push(part)
  }
  const startOf = (trace: readonly SpooledPart[]): number =>
    trace.reduce(
      (least, part) => Math.min(least, part.type === 'span' ? part.span.start : Infinity),
      Infinity,
    )
  const starts = new Map([...traces.values()].map((trace) => [trace, startOf(trace)]))
  yield* [...traces.values()].sort((a, b) => (starts.get(a) ?? 0) - (starts.get(b) ?? 0) || 0)
}
