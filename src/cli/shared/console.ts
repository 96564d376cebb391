import type { Command } from 'commander'
import type { ProgressOutput } from './progress.ts'

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
