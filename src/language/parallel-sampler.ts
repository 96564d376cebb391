import type { SampleOptions, SampleOutput, SampleRequest } from './backend.ts'
import type { TokenTexts } from './grammar/index.ts'
import { checkRequests } from './sample-requests.ts'
import { createSampler } from './sampler.ts'
import type { Sampler, SamplerOptions } from './sampler.ts'
import { createRoutes } from './sampling-routes.ts'
import { allParts } from './threads.ts'
import type { Helper, Threads } from './threads.ts'

/** Fewer rows than this are sampled in this thread alone. */
const fewRows = 16

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
      const { signal, onToken, ...plain } = sampleOptions
      // Copied, since a message carries the whole buffer that a view is of.
      const copies = requests.map((request) => ({ ...request, prompt: request.prompt.slice() }))
      const ask = {
        requests: copies,
        options: plain,
        weightVersion,
        together,
        listening: onToken !== undefined,
      }
      return await helperOf(part).ask('sample', ask, signal, onToken)
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
      const results: SampleOutput[] = []
      const samplePart = async (part: number): Promise<void> => {
        const rows = requests.flatMap((_, i) => (parts[i] === part ? [i] : []))
        if (rows.length === 0) return
        const { onToken } = sampleOptions
        const listener: SampleOptions['onToken'] = (row, token, logprob) =>
          onToken?.(rows[row], token, logprob)
        const outputs = await sampleIn(
          part,
          rows.map((row) => requests[row]),
          { ...sampleOptions, ...(onToken && { onToken: listener }) },
          weightVersion,
          together,
        )
        rows.forEach((row, i) => (results[row] = outputs[i]))
      }
      await allParts(loads.map((_, part) => samplePart(part)))
      return results
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
