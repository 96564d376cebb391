import type { TrainingEvent } from '../../runs/events.ts'
import type { TrainNamedOptions } from './train-named.ts'
import type { ClassicSummary } from './types.ts'

export type ToSeedProcess =
  | { type: 'run'; run: Omit<TrainNamedOptions, 'onEvent' | 'signal'> }
  | { type: 'stop' }

export type FromSeedProcess =
  | { type: 'event'; event: TrainingEvent }
  | { type: 'done'; summary: ClassicSummary }
  | {
      type: 'failed'
      message: string
      details: { code?: string; given?: unknown; expected?: string | undefined; hint?: string | undefined }
    }
