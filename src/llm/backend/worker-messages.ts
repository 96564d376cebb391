import type { ErrorData } from '../../error.ts'
import type { LossSettings, SampleOptions, SampleOutput, SampleRequest } from '../model-backend.ts'
import type { TransformerConfig } from '../model/config.ts'
import type { TokenTexts } from '../grammar/index.ts'
import type { LossSums } from './loss-report.ts'
import type { BatchLimits } from '../model/memory.ts'
import type { PackedSequences } from './sequences.ts'
import type { SamplingWeights } from '../sampling/quantised-weights.ts'

/** Start data of a thread. */
export interface WorkerData extends BatchLimits {
  config: TransformerConfig
  /** For its sampler. */
  cacheBytes: number
  samplingWeights?: SamplingWeights
  /** Shared memory, each the size of the parameters: weights that the thread reads, gradients that it writes. */
  weights: Float32Array
  gradient: Float32Array
}

/** The requests that threads serve, by name, with their inputs and outputs. */
export interface Work {
  sample: {
    ask: {
      requests: SampleRequest[]
      options: Omit<SampleOptions, 'signal' | 'onToken'>
      weightVersion: number
      concurrent: boolean
      /** Whether to send each token as it is drawn. */
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
  /** Adds the gradient to the shared gradient. */
  forwardBackward: { ask: { sequences: PackedSequences; loss: LossSettings }; answer: LossSums }
}

/** Each request has a number for its answer or abort. Only `concurrent` samples may overlap. */
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
