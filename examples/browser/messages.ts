import type { Drawing } from 'agoge/browser'

/** What the page asks of the worker. */
export type Request = { type: 'start'; seed: number; width: number } | { type: 'pause' } | { type: 'resume' }

/** Mean return of the greedy policy over so many episodes, with its 95% interval. */
export interface Evaluation {
  step: number
  mean: number
  low: number
  high: number
  episodes: number
}

/** How far training is. `seconds` are those of acting, stepping and learning: no evaluation, no drawing, no pause. */
export interface Progress {
  step: number
  seconds: number
  /** Episodes that have ended so far. */
  episodes: number
  /** Mean return of the episodes that ended since the last report; none where none did. */
  ended?: number
}

/** What the worker tells the page. */
export type Report =
  /** The programs are compiled, in the library's own kernels or for ONNX Runtime, and training begins. */
  | { type: 'training'; loadingSeconds: number; engine: 'ONNX Runtime' | 'own kernels' }
  | { type: 'frame'; drawing: Drawing; length: number }
  | ({ type: 'progress' } & Progress)
  | ({ type: 'evaluation' } & Evaluation)
  /** Between two updates, as asked. */
  | { type: 'paused' }
  | { type: 'ended'; solved: boolean }
  | { type: 'failed'; message: string }
