import type { SampleOutput } from './backend.ts'
import { checkRequests } from './sample-requests.ts'
import { createSampler } from './sampler.ts'
import type { Sampler, SamplerOptions } from './sampler.ts'
import { createRoutes } from './sampling-routes.ts'
import { allParts } from './threads.ts'
import type { Threads } from './threads.ts'

/** Fewer rows than this are sampled in this thread alone. */
const fewRows = 16

/**
 * A sampler over threads, each with rows, sessions and a cache of its own. What comes out depends on the requests and the
 * number of threads only.
 */
export function createParallelSampler(
  options: Omit<SamplerOptions, 'threads'> & { threads: Threads },
): Sampler {
  const { config, parameters, threads, cacheBytes } = options
  const own = createSampler({ config, parameters, threads: 1, cacheBytes })
  if (threads.count === 1) return own
  const routes = createRoutes(threads.count)
  let hasTexts = false

  return {
    async sample(requests, sampleOptions, weightVersion, together = false) {
      checkRequests(requests, sampleOptions, config, hasTexts)
      if (requests.length < fewRows) return own.sample(requests, sampleOptions, weightVersion, together)
      const parts = routes.assign(requests.map(({ prompt }) => prompt))
      const { signal, ...plain } = sampleOptions
      const results: SampleOutput[] = []
      const samplePart = async (
        part: number,
        sample: (rows: typeof requests) => Promise<SampleOutput[]>,
      ): Promise<void> => {
        const rows = requests.flatMap((_, i) => (parts[i] === part ? [i] : []))
        if (rows.length === 0) return
        const outputs = await sample(rows.map((row) => requests[row]))
        rows.forEach((row, i) => (results[row] = outputs[i]))
      }
      const others = threads.helpers().map((helper, i) =>
        samplePart(i + 1, (rows) => {
          // Copied, since a message carries the whole buffer that a view is of.
          const copies = rows.map((request) => ({ ...request, prompt: request.prompt.slice() }))
          return helper.ask('sample', { requests: copies, options: plain, weightVersion }, signal)
        }),
      )
      await allParts([samplePart(0, (rows) => own.sample(rows, sampleOptions, weightVersion)), ...others])
      return results
    },
    setTexts(texts) {
      hasTexts = texts !== undefined
      own.setTexts(texts)
    },
    clear() {
      own.clear()
      routes.clear()
      threads.clear()
    },
    dispose: () => own.dispose(),
  }
}
