export { reportMetrics } from './remote-report.ts'
export { serverUrl } from './transport.ts'
export { createTinkerBackend, isAgogeServer } from './tinker-backend.ts'
export type { TinkerBackend, TinkerBackendOptions } from './tinker-backend.ts'
export { apiPath } from './wire.ts'
export type {
  AgogeExtension,
  Datum,
  ForwardBackwardInput,
  ForwardBackwardOutput,
  SampleBatch,
  SampledSequence,
  SampleResponse,
  TensorData,
  TextChunk,
} from './wire.ts'
