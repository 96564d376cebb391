import type { TrainingEvent } from '../events.ts'
import type { TrainNamedOptions } from './train-named.ts'
import type { ArraySummary } from './types.ts'

export type ToSeedProcess =
  | { type: 'run'; run: Omit<TrainNamedOptions, 'onEvent' | 'signal'> }
  | { type: 'stop' }

export type FromSeedProcess =
  | { type: 'event'; event: TrainingEvent }
  | { type: 'done'; summary: ArraySummary }
  | {
      type: 'failed'
      message: string
      details: { code?: string; given?: unknown; expected?: string | undefined; hint?: string | undefined }
    }
