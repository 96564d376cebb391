import { parentPort, workerData } from 'node:worker_threads'
import { AgogeError, errorData } from '../../error.ts'
import { createLearner } from './learner.ts'
import { joinValues, unpackRows, unpackSequences } from './packed-sequences.ts'
import { parameterLayout } from '../model/parameters.ts'
import { createSampler } from '../sampling/sampler.ts'
import type { DrawnToken, FromWorker, ToWorker, Work, WorkerData } from './threads.ts'

// A thread with its own sampler and learner for its part of the rows.
const { config, cacheBytes, samplingWeights, weights, gradient, ...limits } = workerData as WorkerData
const layout = parameterLayout(config)
// Copied, because the runtime does not read shared memory.
const parameters = { layout, data: new Float32Array(layout.size) }
const engine = { config, parameters, threads: 1 }
const sampler = createSampler({ ...engine, cacheBytes, ...(samplingWeights && { samplingWeights }) })
const learner = createLearner({ ...engine, ...limits, gradient })
const port = parentPort!
const running = new Map<number, AbortController>()

type Asked = Extract<ToWorker, { id: number }> & { type: keyof Work }

function work(asked: Asked, signal: AbortSignal) {
  if (asked.type === 'sample') {
    const { id, requests, options, weightVersion, concurrent, listening } = asked
    const onToken = (...drawn: DrawnToken): void => port.postMessage({ id, drawn } satisfies FromWorker)
    const settings = { ...options, signal, ...(listening && { onToken }) }
    return sampler.sample(requests, settings, weightVersion, concurrent)
  }
  if (asked.type === 'forward') {
    const { rows, what, threads } = asked
    const sequences = unpackRows(rows)
    const temperatures = sequences.map((row) => row.temperatures)
    return learner
      .forward(
        sequences.map(({ tokens }) => tokens),
        { signal, temperatures, what, threads },
      )
      .then(joinValues)
  }
  const { sequences, loss, threads } = asked
  return learner.forwardBackward(unpackSequences(sequences), loss, { signal, threads })
}

async function respond(asked: Asked): Promise<FromWorker> {
  const { id } = asked
  const controller = new AbortController()
  running.set(id, controller)
  try {
    return { id, answer: await work(asked, controller.signal) }
  } catch (error) {
    return AgogeError.isInstance(error) ? { id, refused: errorData(error) } : { id, error }
  } finally {
    running.delete(id)
  }
}

port.on('message', (message: ToWorker) => {
  if (message.type === 'abort') running.get(message.id)?.abort()
  else if (message.type === 'clear') sampler.clear()
  else if (message.type === 'texts') sampler.setTexts(message.texts)
  else if (message.type === 'weights') {
    parameters.data.set(weights)
    sampler.clear()
  } else void respond(message).then((response) => port.postMessage(response))
})
