/** What the command line provides to these commands. */
export interface Terminal {
  out: (text: string) => void
  err: (text: string) => void
  signal: AbortSignal
  table: (header: readonly string[], rows: readonly (readonly string[])[]) => string
  describeError: (error: unknown, debug: boolean) => string
  /** Keeps scores while a run works. */
  keepLines: (file: string, of: object, options: { resume: boolean }) => KeptLines
  /** Writes a file that is either complete or unchanged. */
  writeWhole: (file: string, text: string) => void
  /** Cores, processor and version of Node, for the record. */
  machine: string
}

export interface KeptLines {
  earlier: readonly Readonly<Record<string, unknown>>[]
  keep: (line: object) => void
  remove: () => void
}
