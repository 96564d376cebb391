import { Worker } from 'node:worker_threads'
import { AgogeError } from '../error.ts'
import type { SampleOutput } from './backend.ts'
import { checkRequests } from './sample-requests.ts'
import { createSampler } from './sampler.ts'
import type { Sampler, SamplerOptions } from './sampler.ts'
import { createRoutes } from './sampling-routes.ts'
import type { FromSamplingWorker, SamplingWorkerData, ToSamplingWorker } from './sampling-worker.ts'

/** Fewer rows than this are sampled in this thread alone. */
const fewRows = 16

/**
 * A sampler over `threads` threads, each with rows, sessions and a cache of its own: decoding is many small operators, of
 * which two threads side by side do more than two threads inside each. Threads are started by the first call with enough
 * rows. What comes out depends on the requests and the number of threads only.
 */
export function createParallelSampler(options: SamplerOptions & { threads: number }): Sampler {
  const { config, parameters, threads } = options
  const cacheBytes = Math.floor(options.cacheBytes / threads)
  const own = createSampler({ config, parameters, threads: 1, cacheBytes })
  if (threads === 1) return own
  const routes = createRoutes(threads)
  let helpers: Helper[] = []
  let weightsSent = false

  return {
    async sample(requests, sampleOptions, weightVersion) {
      checkRequests(requests, sampleOptions, config)
      const few = requests.length < fewRows
      if (!few && helpers.length === 0)
        helpers = Array.from({ length: threads - 1 }, () => startHelper({ config, cacheBytes }))
      if (!few && !weightsSent) {
        for (const helper of helpers) helper.post({ type: 'weights', data: parameters.data })
        weightsSent = true
      }
      const parts = few ? requests.map(() => 0) : routes.assign(requests.map(({ prompt }) => prompt))
      const rowsOf = (part: number): number[] => requests.flatMap((_, i) => (parts[i] === part ? [i] : []))
      const { signal, ...plain } = sampleOptions
      const results: SampleOutput[] = []
      const keep = (rows: readonly number[], outputs: readonly SampleOutput[]): void =>
        rows.forEach((row, i) => (results[row] = outputs[i]))
      const others = (few ? [] : helpers).map(async (helper, i) => {
        const rows = rowsOf(i + 1)
        if (rows.length === 0) return
        const abort = (): void => helper.post({ type: 'abort' })
        signal?.addEventListener('abort', abort)
        try {
          // Copied, since a message carries the whole buffer that a view is of.
          const part = rows.map((row) => ({ ...requests[row], prompt: requests[row].prompt.slice() }))
          keep(rows, await helper.ask({ type: 'sample', requests: part, options: plain, weightVersion }))
        } finally {
          signal?.removeEventListener('abort', abort)
        }
      })
      const mine = rowsOf(0)
      const here = own
        .sample(
          mine.map((row) => requests[row]),
          sampleOptions,
          weightVersion,
        )
        .then((outputs) => keep(mine, outputs))
      // All have ended before anybody hears of a failure: nothing goes on behind the caller's back.
      const ends = await Promise.allSettled([here, ...others])
      const failed = ends.find((end) => end.status === 'rejected')
      if (failed !== undefined) throw failed.reason
      return results
    },
    clear() {
      own.clear()
      routes.clear()
      weightsSent = false
      for (const helper of helpers) helper.post({ type: 'clear' })
    },
    async dispose() {
      const ending = helpers
      helpers = []
      weightsSent = false
      await Promise.all([own.dispose(), ...ending.map((helper) => helper.end())])
    },
  }
}

/** From sources, threads need a loader of their own (Node 20 gives them none). */
function startWorker(workerData: SamplingWorkerData): Worker {
  const built = !import.meta.url.endsWith('.ts')
  if (built) return new Worker(new URL('./sampling-worker.js', import.meta.url), { workerData })
  const [loader, script] = [
    import.meta.resolve('tsx/esm/api'),
    new URL('./sampling-worker.ts', import.meta.url),
  ]
  const code = `import('${loader}').then(({ register }) => { register(); return import('${script.href}') })`
  return new Worker(code, { eval: true, execArgv: ['--conditions', 'agoge-source'], workerData })
}

interface Helper {
  post(message: ToSamplingWorker): void
  ask(message: ToSamplingWorker): Promise<SampleOutput[]>
  end(): Promise<unknown>
}

function startHelper(data: SamplingWorkerData): Helper {
  const worker = startWorker(data)
  worker.unref()
  let asked: { resolve: (outputs: SampleOutput[]) => void; reject: (why: unknown) => void } | undefined
  const settle = (answer: FromSamplingWorker): void => {
    worker.unref()
    const waiting = asked
    asked = undefined
    if ('outputs' in answer) waiting?.resolve(answer.outputs)
    else waiting?.reject(answer.error)
  }
  worker.on('message', settle)
  let ended: AgogeError | undefined
  worker.on('error', (error) => settle({ error }))
  worker.on('exit', (code) => {
    ended = new AgogeError('a sampling thread ended', {
      code: 'worker-ended',
      given: `exit code ${code}`,
      expected: 'a thread that answers',
      hint: 'AGOGE_THREADS=1 samples in the main thread alone',
    })
    settle({ error: ended })
  })
  return {
    post: (message) => worker.postMessage(message),
    ask: (message) =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(ended)
        asked = { resolve, reject }
        // A call under way keeps the process alive, an idle thread does not.
        worker.ref()
        worker.postMessage(message)
      }),
    end: () => worker.terminate(),
  }
}
