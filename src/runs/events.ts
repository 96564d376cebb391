import type { Estimate } from '../statistics/intervals.ts'

/** What a job tells those who watch it. Nothing depends on whether anybody does. */
export type TrainingEvent =
  | { type: 'phase'; name: string; total: number | null }
  | {
      type: 'step'
      phase: string
      step: number
      total: number | null
      /** Seconds of this step. */
      seconds: number
      metrics: Record<string, number>
    }
  | { type: 'evaluation'; stage: string; split: string; done: number; total: number; success?: Estimate }
  | { type: 'note'; text: string }

export type OnTrainingEvent = (event: TrainingEvent) => void
