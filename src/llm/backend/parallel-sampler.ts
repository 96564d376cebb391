import type { TokenTexts } from '../grammar/cursor.ts'
import type { SampleOptions, SampleOutput, SampleRequest } from '../model-backend.ts'
import { checkRequests } from '../sampling/requests.ts'
import { createSampler, type Sampler, type SamplerOptions } from '../sampling/sampler.ts'
import { allParts, type Helper, type Threads } from './threads.ts'

/** Samples some rows of a call. `onToken` receives indices among these rows. */
type SamplePart = (
  part: number,
  requests: readonly SampleRequest[],
  options: SampleOptions,
) => Promise<SampleOutput[]>

/** Samples the rows of a call in concurrent parts. `parts` has the part, 0 to count - 1, of each row. */
export async function sampleInParts(
  requests: readonly SampleRequest[],
  options: SampleOptions,
  parts: readonly number[],
  samplePart: SamplePart,
): Promise<SampleOutput[]> {
  const results: SampleOutput[] = []
  const { onToken } = options
  const sampleOne = async (part: number): Promise<void> => {
    const rows = requests.flatMap((_, i) => (parts[i] === part ? [i] : []))
    const listener: SampleOptions['onToken'] = (row, token, logprob) => onToken?.(rows[row], token, logprob)
    const outputs = await samplePart(
      part,
      rows.map((row) => requests[row]),
      { ...options, ...(onToken && { onToken: listener }) },
    )
    rows.forEach((row, i) => (results[row] = outputs[i]))
  }
  await allParts([...new Set(parts)].sort((a, b) => a - b).map(sampleOne))
  return results
}

/** Samples rows in another thread. */
export function askToSample(
  helper: Helper,
  requests: readonly SampleRequest[],
  { signal, onToken, ...options }: SampleOptions,
  { weightVersion, concurrent }: { weightVersion: number; concurrent: boolean },
): Promise<SampleOutput[]> {
  // Copied, because a message transfers the whole buffer of a view.
  const copies = requests.map((request) => ({ ...request, prompt: request.prompt.slice() }))
  const listening = onToken !== undefined
  return helper.ask(
    'sample',
    { requests: copies, options, weightVersion, concurrent, listening },
    signal,
    onToken,
  )
}

/** Adds prompt log-probabilities to the outputs of rows that request them. */
export async function withPromptLogprobs(
  requests: readonly SampleRequest[],
  options: SampleOptions,
  outputs: SampleOutput[],
  forward: (prompts: Int32Array[]) => Promise<Float32Array[]>,
): Promise<SampleOutput[]> {
  const asking = requests.flatMap((request, i) =>
    (request.promptLogprobs ?? options.promptLogprobs) === true ? [i] : [],
  )
  if (asking.length === 0) return outputs
  const logprobs = await forward(asking.map((i) => requests[i].prompt))
  asking.forEach((i, place) => (outputs[i].promptLogprobs = logprobs[place]))
  return outputs
}

/** How much more than its even share of rows a part may get before further rows go elsewhere. */
const slack = 1.15
/** Most prompts to remember. */
const mostKnown = 100_000

/**
 * Distributes prompts over samplers with a cache each. A prompt goes to the sampler that read its longest known prefix,
 * so that the cache is reused, otherwise to the one with the least work. Depends only on the prompts so far.
 */
export function createRoutes(parts: number) {
  const known = new Map<number, number>()
  return {
    /** The part, 0 to parts - 1, of each prompt. */
    assign(prompts: readonly Int32Array[]): number[] {
      if (known.size > mostKnown) known.clear()
      const loads = Array.from({ length: parts }, () => 0)
      const most = Math.ceil((prompts.length / parts) * slack)
      return prompts.map((prompt) => {
        let hash = 0
        let found: number | undefined
        let name = 0
        for (let i = 0; i < prompt.length; i++) {
          hash = Math.imul(hash ^ prompt[i], 0x01000193) + 0x9e3779b9
          name = i * 2 ** 32 + (hash >>> 0)
          found = known.get(name) ?? found
        }
        const part = found !== undefined && loads[found] < most ? found : loads.indexOf(Math.min(...loads))
        loads[part]++
        known.set(name, part)
        return part
      })
    },
    clear: () => known.clear(),
  }
}

/** Whether a client brought the grammar of a row. Such grammars are compiled by `createGrammarCompiler`. */
function hasForeignGrammar(requests: readonly SampleRequest[], options: SampleOptions): boolean {
  return [options, ...requests].some(({ grammar }) => typeof grammar === 'object' && 'compiled' in grammar)
}

/** With fewer rows than this, only one thread samples. */
export const fewRows = 16

/**
 * A sampler over threads, each with its own rows, sessions and cache. Results depend only on the requests and the
 * number of threads. For `concurrent` calls the last digits also depend on the other calls.
 */
export function createParallelSampler(
  options: Omit<SamplerOptions, 'threads'> & { threads: Threads },
): Sampler {
  const { config, threads } = options
  const own = createSampler({ ...options, threads: 1 })
  if (threads.count === 1 && !threads.apart) return own
  const routes = createRoutes(threads.count)
  let texts: TokenTexts | undefined
  /** Helper threads that have the current token texts. */
  let informed = new Set<Helper>()
  /** Number of active rows in each thread. */
  const loads = Array.from({ length: threads.count }, () => 0)

  function helperOf(part: number): Helper | undefined {
    const helper = threads.helperOf(part)
    if (helper === undefined || informed.has(helper)) return helper
    helper.post({ type: 'texts', texts })
    informed.add(helper)
    return helper
  }

  async function sampleIn(
    part: number,
    requests: readonly SampleRequest[],
    sampleOptions: SampleOptions,
    weightVersion: number,
    concurrent: boolean,
  ): Promise<SampleOutput[]> {
    loads[part] += requests.length
    try {
      const helper = helperOf(part)
      if (helper === undefined) return await own.sample(requests, sampleOptions, weightVersion, concurrent)
      return await askToSample(helper, requests, sampleOptions, { weightVersion, concurrent })
    } finally {
      loads[part] -= requests.length
    }
  }

  /** Where a small call goes: the first thread while it has few rows, otherwise the thread with the fewest. */
  function partForFew(concurrent: boolean): number {
    return concurrent && loads[0] >= fewRows / 2 ? loads.indexOf(Math.min(...loads)) : 0
  }

  /** The parts of rows whose grammar may hold up their thread: never this one, in which others are answered. */
  function partsApart(rows: number): number[] {
    const helpers = loads.map((_, part) => part).slice(threads.apart ? 0 : 1)
    helpers.sort((a, b) => loads[a] - loads[b])
    return Array.from({ length: rows }, (_, row) => helpers[row % helpers.length])
  }

  return {
    async sample(requests, sampleOptions, weightVersion, concurrent = false) {
      checkRequests(requests, sampleOptions, config, texts !== undefined)
      sampleOptions.signal?.throwIfAborted()
      const isApart = concurrent && hasForeignGrammar(requests, sampleOptions)
      if (requests.length < fewRows) {
        const part = isApart ? partsApart(1)[0] : partForFew(concurrent)
        return sampleIn(part, requests, sampleOptions, weightVersion, concurrent)
      }
      const parts = isApart
        ? partsApart(requests.length)
        : routes.assign(requests.map(({ prompt }) => prompt))
      return sampleInParts(requests, sampleOptions, parts, (part, rows, settings) =>
        sampleIn(part, rows, settings, weightVersion, concurrent),
      )
    },
    setTexts(next) {
      texts = next
      informed = new Set()
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
