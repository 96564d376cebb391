import { parentPort, workerData } from 'node:worker_threads'
import type { SampleOptions, SampleOutput, SampleRequest } from './backend.ts'
import type { TransformerConfig } from './config.ts'
import { parameterLayout } from './parameters.ts'
import { createSampler } from './sampler.ts'

export interface SamplingWorkerData {
  config: TransformerConfig
  cacheBytes: number
}

export type ToSamplingWorker =
  | { type: 'weights'; data: Float32Array }
  | {
      type: 'sample'
      requests: SampleRequest[]
      options: Omit<SampleOptions, 'signal'>
      weightVersion: number
    }
  | { type: 'abort' }
  | { type: 'clear' }

export type FromSamplingWorker = { outputs: SampleOutput[] } | { error: unknown }

// A thread that samples its part of the rows with weights it is sent.
const { config, cacheBytes } = workerData as SamplingWorkerData
const layout = parameterLayout(config)
const parameters = { layout, data: new Float32Array(layout.size) }
const sampler = createSampler({ config, parameters, threads: 1, cacheBytes })
const port = parentPort!
let running = new AbortController()

async function sample(message: Extract<ToSamplingWorker, { type: 'sample' }>): Promise<void> {
  running = new AbortController()
  try {
    const options = { ...message.options, signal: running.signal }
    port.postMessage({ outputs: await sampler.sample(message.requests, options, message.weightVersion) })
  } catch (error) {
    port.postMessage({ error })
  }
}

port.on('message', (message: ToSamplingWorker) => {
  if (message.type === 'sample') void sample(message)
  else if (message.type === 'abort') running.abort()
  else {
    if (message.type === 'weights') parameters.data.set(message.data)
    sampler.clear()
  }
})
