import type { LossSettings, SampleOptions, SampleOutput, SampleRequest } from './backend.ts'
import type { TransformerConfig } from './config.ts'
import type { LossSums } from './loss-report.ts'
import type { BatchLimits } from './memory.ts'
import type { PackedSequences } from './packed-sequences.ts'

/** What a thread is started with. */
export interface WorkerData extends BatchLimits {
  config: TransformerConfig
  /** For its sampler. */
  cacheBytes: number
  /** Memory of both sides, of the size of the parameters: weights for the thread to take, gradients that it gives. */
  weights: Float32Array
  gradient: Float32Array
}

/** What threads do, by name: what they are asked with, and what they answer. */
export interface Work {
  sample: {
    ask: { requests: SampleRequest[]; options: Omit<SampleOptions, 'signal'>; weightVersion: number }
    answer: SampleOutput[]
  }
  forward: { ask: { sequences: Int32Array[] }; answer: Float32Array[] }
  /** The gradient is added to that of both sides. */
  forwardBackward: { ask: { sequences: PackedSequences; loss: LossSettings }; answer: LossSums }
}

/** One after the other; only `abort` may come while there is work under way. */
export type ToWorker =
  | { [K in keyof Work]: { type: K } & Work[K]['ask'] }[keyof Work]
  | { type: 'weights' }
  | { type: 'clear' }
  | { type: 'abort' }

export type FromWorker = { answer: Work[keyof Work]['answer'] } | { error: unknown }
