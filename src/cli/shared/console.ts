import type { ProgressOutput } from './progress.ts'

/** What a command may use of the process: results go to `out`, everything else to `err`. */
export interface Console {
  out: (text: string) => void
  err: (text: string) => void
  progress: ProgressOutput
  signal: AbortSignal
  debug: boolean
}
