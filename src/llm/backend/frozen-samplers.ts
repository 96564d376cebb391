import { AgogeError } from '../../error.ts'
import { defaultDevice, defaultThreads } from '../../engine/tensor/index.ts'
import type { FrozenSampler } from '../model-backend.ts'
import type { TransformerConfig } from '../model/config.ts'
import { parameterLayout } from '../model/parameters.ts'
import { askForward } from './parallel-learner.ts'
import { checkRequests, needsTexts } from '../sampling/requests.ts'
import { askToSample, createRoutes, fewRows, sampleInParts, withPromptLogprobs } from './parallel-sampler.ts'
import type { Helper, ToWorker } from './threads.ts'
import { createTurnQueue, startHelper } from './threads.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'

export interface FrozenSamplersOptions {
  config: TransformerConfig
  /** As the options of the `LocalBackend` whose samples these reproduce bit for bit. */
  threads?: number
  /** Sum over all threads. Default: 192 MB. */
  cacheBytes?: number
}

/** Weights to sample from. */
export interface FrozenWeights {
  /** Used without copying; must not be written to afterwards. */
  data: Float32Array
  weightVersion: number
  tokenizer?: Tokenizer | undefined
}

/** Samplers of frozen weights in their own threads, which leave this thread free, for instance to train. */
export interface FrozenSamplers {
  /** Returns a sampler of these weights. All samplers share the threads, one call after another. */
  of(weights: FrozenWeights): FrozenSampler
  dispose(): Promise<void>
}

/** @throws AgogeError `unsupported-overlap` on devices other than the CPU, which only one thread can use. */
export function createFrozenSamplers({ config, cacheBytes, threads }: FrozenSamplersOptions): FrozenSamplers {
  const device = defaultDevice()
  if (device !== 'cpu') {
    throw new AgogeError('This device cannot sample and train at the same time', {
      code: 'unsupported-overlap',
      given: `AGOGE_DEVICE=${device}`,
      expected: 'AGOGE_DEVICE=cpu',
      hint: 'Train without overlap, or on the CPU',
    })
  }
  const count = threads ?? defaultThreads
  const { size } = parameterLayout(config)
  const bytes = Math.floor((cacheBytes ?? 192 * 2 ** 20) / count)
  const turns = createTurnQueue()
  const routes = createRoutes(count)
  let helpers: Helper[] = []
  let source: Float32Array | undefined
  /** The weights that the threads currently hold. */
  let held: Float32Array | undefined
  let observedTokenizer: Tokenizer | undefined
  const toAll = (message: ToWorker): void => helpers.forEach((helper) => helper.post(message))

  function hold(data: Float32Array): void {
    if (helpers.some(({ ended }) => ended)) {
      // One that ended for lack of memory is started again, with the others.
      for (const helper of helpers) void helper.end()
      helpers = []
      held = observedTokenizer = undefined
    }
    if (held === data) return
    const shared = (): Float32Array =>
      new Float32Array(new SharedArrayBuffer(size * Float32Array.BYTES_PER_ELEMENT))
    const weights = (source ??= shared())
    if (helpers.length === 0) {
      // These threads do not train.
      const gradient = shared()
      const start = { config, cacheBytes: bytes, tokenBudget: 1024, weights, gradient }
      helpers = Array.from({ length: count }, () => startHelper(start))
    }
    weights.set(data)
    toAll({ type: 'weights' })
    routes.clear()
    held = data
  }

  return {
    of: ({ data, weightVersion, tokenizer }) => ({
      weightVersion,
      sample: (requests, options) =>
        turns.alone(async () => {
          const hasTexts = tokenizer !== undefined
          checkRequests(requests, options, config, hasTexts)
          options.signal?.throwIfAborted()
          if (requests.length === 0) return []
          hold(data)
          if (hasTexts && tokenizer !== observedTokenizer && needsTexts(requests, options)) {
            toAll({ type: 'texts', texts: tokenizer.texts() })
            observedTokenizer = tokenizer
          }
          const prompts = requests.map(({ prompt }) => prompt)
          const parts = requests.length < fewRows ? prompts.map(() => 0) : routes.assign(prompts)
          const how = { weightVersion, concurrent: false }
          const outputs = await sampleInParts(requests, options, parts, (part, rows, settings) =>
            askToSample(helpers[part], rows, settings, how),
          )
          return withPromptLogprobs(requests, options, outputs, (sequences) =>
            askForward(
              helpers[0],
              sequences.map((tokens) => ({ tokens })),
              {},
              options.signal,
            ),
          )
        }),
    }),
    dispose: () =>
      turns.alone(async () => {
        await Promise.all(helpers.map((helper) => helper.end()))
        helpers = []
        held = undefined
      }),
  }
}
