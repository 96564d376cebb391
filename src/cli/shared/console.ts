import type { Command } from 'commander'
import type { ProgressOutput } from './progress.ts'
import { AgogeError } from '../../error.ts'
import { asMemoryError } from '../../memory-error.ts'
import { asFileError } from '../../runs/files.ts'
import { InfrastructureError } from '../../llm/tool/tool.ts'

/** The parts of the process that a command may use. Results go to `out`, everything else to `err`. */
export interface Console {
  out: (text: string) => void
  err: (text: string) => void
  progress: ProgressOutput
  signal: AbortSignal
  debug: boolean
}

/** What a command needs to add itself to the program. */
export interface CommandContext {
  program: Command
  terminal: Console
  /** What the user typed, for the record of a run. */
  commandLine: string
  /** Receives the exit code. */
  done: (code: number) => void
}

/** Formats rows as aligned text: the first column left, the others right, two spaces between columns. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows]
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    widths
      .map((width, column) =>
        column === 0 ? (row[0] ?? '').padEnd(width) : (row[column] ?? '').padStart(width),
      )
      .join('  ')
      .trimEnd()
  return [line(header), widths.map((width) => '─'.repeat(width)).join('  '), ...rows.map(line)].join('\n')
}

const blocks = '▁▂▃▄▅▆▇█'

/**
 * Draws values as a row of block characters, at most `width` of them; neighbouring values are averaged. Non-finite
 * values leave a gap.
 *
 * @param low lower end of the scale. Default: the smallest value.
 * @param high upper end of the scale. Default: the largest value.
 */
export function sparkline(
  values: readonly number[],
  width: number,
  range: { low?: number; high?: number } = {},
): string {
  const columns = Math.min(width, values.length)
  const averages = Array.from({ length: columns }, (_, i) => {
    const part = values.slice(
      Math.floor((i * values.length) / columns),
      Math.floor(((i + 1) * values.length) / columns),
    )
    return part.reduce((sum, value) => sum + value, 0) / part.length
  })
  const finite = averages.filter(Number.isFinite)
  const low = range.low ?? Math.min(...finite)
  const high = range.high ?? Math.max(...finite)
  return averages
    .map((value) => {
      if (!Number.isFinite(value)) return ' '
      const share = high > low ? (value - low) / (high - low) : 0
      return blocks[Math.max(0, Math.min(blocks.length - 1, Math.floor(share * blocks.length)))]
    })
    .join('')
}

const longestValue = 400

/**
 * Formats an error for the user: the problem, the given value, the expected one and a hint. The stack is shown only
 * with `debug`.
 */
export function describeError(given: unknown, debug: boolean): string {
  const error = asMemoryError(asFileError(pathOf(given), given))
  if (!(error instanceof Error) && !AgogeError.isInstance(error)) return `error: ${String(error)}`
  // Messages may quote a server's last output. Escaping keeps its lines distinct from ours.
  const lines = [`error: ${error.message.replaceAll(/\n(?=\S)/g, '\n  ')}`]
  if (AgogeError.isInstance(error)) {
    if (error.given !== undefined) lines.push(labelled('given', show(error.given)))
    if (error.expected !== undefined) lines.push(labelled('expected', error.expected))
    if (error.hint !== undefined) lines.push(labelled('hint', error.hint))
  } else if (error instanceof InfrastructureError && error.hint !== undefined)
    lines.push(labelled('hint', error.hint))
  else if (!debug)
    lines.push(labelled('hint', 'run the same command with --debug to see where this came from'))
  if (debug) lines.push('', ...stacks(error))
  return lines.join('\n')
}

/** Errors of writing to an open file lack its path. */
function pathOf(error: unknown): string {
  return error instanceof Error && 'path' in error ? String(error.path) : 'a file'
}

function labelled(label: string, text: string): string {
  return `  ${`${label}:`.padEnd(10)}${text.replaceAll('\n', `\n${' '.repeat(12)}`)}`
}

function stacks(error: Error): string[] {
  const own = error.stack ?? error.message
  return error.cause instanceof Error ? [own, 'caused by:', ...stacks(error.cause)] : [own]
}

function show(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, plain) ?? String(value))
  return text.length > longestValue ? `${text.slice(0, longestValue)} ...` : text
}

function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
