import type { Drawing } from 'agoge/browser'

/** Messages from the page to the worker. */
export type Request = { type: 'start'; seed: number; width: number } | { type: 'pause' } | { type: 'resume' }

/** Mean return of the greedy policy over a number of episodes, with its 95% interval. */
export interface Evaluation {
  step: number
  mean: number
  low: number
  high: number
  episodes: number
}

/** Progress of training. `seconds` counts acting, stepping and learning, without evaluation, drawing and pauses. */
export interface Progress {
  step: number
  seconds: number
  /** Number of finished episodes. */
  episodes: number
  /** Mean return of the episodes that ended since the last report; undefined if none did. */
  ended?: number
}

/** Messages from the worker to the page. */
export type Report =
  /** The programs are compiled (for the library's own kernels or for ONNX Runtime) and training starts. */
  | { type: 'training'; loadingSeconds: number; engine: 'ONNX Runtime' | 'own kernels' }
  | { type: 'frame'; drawing: Drawing; length: number }
  | ({ type: 'progress' } & Progress)
  | ({ type: 'evaluation' } & Evaluation)
  /** Between two updates, as asked. */
  | { type: 'paused' }
  | { type: 'ended'; solved: boolean }
  | { type: 'failed'; message: string }
