import { parentPort, workerData } from 'node:worker_threads'
import { createLearner } from './learner.ts'
import { unpackSequences } from './packed-sequences.ts'
import { parameterLayout } from './parameters.ts'
import { createSampler } from './sampler.ts'
import type { FromWorker, ToWorker, WorkerData } from './worker-messages.ts'

// A thread with a sampler and a learner of its own, for its part of the rows.
const { config, cacheBytes, weights, gradient, ...limits } = workerData as WorkerData
const layout = parameterLayout(config)
// Copied, since the runtime does not read memory that threads share.
const parameters = { layout, data: new Float32Array(layout.size) }
const engine = { config, parameters, threads: 1 }
const sampler = createSampler({ ...engine, cacheBytes })
const learner = createLearner({ ...engine, ...limits, gradient })
const port = parentPort!
let running = new AbortController()

type Asked = Exclude<ToWorker, { type: 'weights' | 'clear' | 'abort' }>

function work(asked: Asked, signal: AbortSignal) {
  if (asked.type === 'sample')
    return sampler.sample(asked.requests, { ...asked.options, signal }, asked.weightVersion)
  if (asked.type === 'forward') return learner.forward(asked.sequences, signal)
  return learner.forwardBackward(unpackSequences(asked.sequences), asked.loss, signal)
}

async function respond(asked: Asked): Promise<FromWorker> {
  running = new AbortController()
  try {
    return { answer: await work(asked, running.signal) }
  } catch (error) {
    return { error }
  }
}

port.on('message', (message: ToWorker) => {
  if (message.type === 'abort') running.abort()
  else if (message.type === 'clear') sampler.clear()
  else if (message.type === 'weights') {
    parameters.data.set(weights)
    sampler.clear()
  } else void respond(message).then((response) => port.postMessage(response))
})
