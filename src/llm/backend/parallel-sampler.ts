import type { SampleOptions, SampleOutput, SampleRequest } from '../model-backend.ts'
import type { TokenTexts } from '../grammar/index.ts'
import { checkRequests } from '../sampling/sample-requests.ts'
import { createSampler } from '../sampling/sampler.ts'
import type { Sampler, SamplerOptions } from '../sampling/sampler.ts'
import { askToSample, sampleInParts } from './sampling-parts.ts'
import { createRoutes } from './sampling-routes.ts'
import type { Helper, Threads } from './threads.ts'

/** Fewer rows than this are sampled in this thread alone. */
export const fewRows = 16

/**
 * A sampler over threads, each with rows, sessions and a cache of its own. What comes out depends on the requests and the
 * number of threads only; of calls that are `together` on what else is under way, in the last digits.
 */
export function createParallelSampler(
  options: Omit<SamplerOptions, 'threads'> & { threads: Threads },
): Sampler {
  const { config, threads } = options
  const own = createSampler({ ...options, threads: 1 })
  if (threads.count === 1) return own
  const routes = createRoutes(threads.count)
  let texts: TokenTexts | undefined
  /** Helpers that know the texts of now. */
  let told = new Set<Helper>()
  /** Rows under way in each thread. */
  const loads = Array.from({ length: threads.count }, () => 0)

  function helperOf(part: number): Helper {
    const helper = threads.helpers()[part - 1]
    if (!told.has(helper)) helper.post({ type: 'texts', texts })
    told.add(helper)
    return helper
  }

  async function sampleIn(
    part: number,
    requests: readonly SampleRequest[],
    sampleOptions: SampleOptions,
    weightVersion: number,
    together: boolean,
  ): Promise<SampleOutput[]> {
    loads[part] += requests.length
    try {
      if (part === 0) return await own.sample(requests, sampleOptions, weightVersion, together)
      return await askToSample(helperOf(part), requests, sampleOptions, { weightVersion, together })
    } finally {
      loads[part] -= requests.length
    }
  }

  /** Where few rows go: to this thread as long as it has few, else where there are fewest. */
  function partForFew(together: boolean): number {
    return together && loads[0] >= fewRows / 2 ? loads.indexOf(Math.min(...loads)) : 0
  }

  return {
    async sample(requests, sampleOptions, weightVersion, together = false) {
      checkRequests(requests, sampleOptions, config, texts !== undefined)
      sampleOptions.signal?.throwIfAborted()
      if (requests.length < fewRows)
        return sampleIn(partForFew(together), requests, sampleOptions, weightVersion, together)
      const parts = routes.assign(requests.map(({ prompt }) => prompt))
      return sampleInParts(requests, sampleOptions, parts, (part, rows, settings) =>
        sampleIn(part, rows, settings, weightVersion, together),
      )
    },
    setTexts(next) {
      texts = next
      told = new Set()
      own.setTexts(next)
    },
    clear() {
      own.clear()
      routes.clear()
      threads.clear()
    },
    dispose: () => own.dispose(),
  }
}
