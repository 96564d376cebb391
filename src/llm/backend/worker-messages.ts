import type { ErrorData } from '../../error.ts'
import type { LossSettings, SampleOptions, SampleOutput, SampleRequest } from '../model-backend.ts'
import type { TransformerConfig } from '../model/config.ts'
import type { TokenTexts } from '../grammar/index.ts'
import type { LossSums } from './loss-report.ts'
import type { BatchLimits } from '../model/memory.ts'
import type { PackedSequences } from './sequences.ts'
import type { SamplingWeights } from '../sampling/quantised-weights.ts'

/** What a thread is started with. */
export interface WorkerData extends BatchLimits {
  config: TransformerConfig
  /** For its sampler. */
  cacheBytes: number
  samplingWeights?: SamplingWeights
  /** Memory of both sides, of the size of the parameters: weights for the thread to take, gradients that it gives. */
  weights: Float32Array
  gradient: Float32Array
}

/** What threads do, by name: what they are asked with, and what they answer. */
export interface Work {
  sample: {
    ask: {
      requests: SampleRequest[]
      options: Omit<SampleOptions, 'signal' | 'onToken'>
      weightVersion: number
      concurrent: boolean
      /** Whether each token is sent as it is drawn. */
      listening: boolean
    }
    answer: SampleOutput[]
  }
  forward: {
    ask: {
      sequences: Int32Array[]
      temperatures?: (Float32Array | undefined)[]
      what?: 'logprobs' | 'entropies'
    }
    answer: Float32Array[]
  }
  /** The gradient is added to that of both sides. */
  forwardBackward: { ask: { sequences: PackedSequences; loss: LossSettings }; answer: LossSums }
}

/** What is asked has a number, by which it is answered or aborted. Only samples that are `concurrent` may overlap. */
export type ToWorker =
  | { [K in keyof Work]: { type: K; id: number } & Work[K]['ask'] }[keyof Work]
  | { type: 'weights' }
  | { type: 'clear' }
  | { type: 'texts'; texts: TokenTexts | undefined }
  | { type: 'abort'; id: number }

/** Row, token, log-probability. */
export type DrawnToken = readonly [number, number, number]

export type FromWorker = { id: number } & (
  | { answer: Work[keyof Work]['answer'] }
  | { error: unknown }
  | { refused: ErrorData }
  | { drawn: DrawnToken }
)
