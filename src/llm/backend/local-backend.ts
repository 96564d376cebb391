import { defined } from '../../defined.ts'
import { hashWeights, lowRankOf } from '../adapter/lora.ts'
import { readAdapter, writeAdapter } from '../adapter/peft.ts'
import type { Adapter } from '../adapter/lora.ts'
import { checkSameTraining, createTrained } from '../adapter/trainable.ts'
import type { Trainable } from '../adapter/trainable.ts'
import { AgogeError } from '../../error.ts'
import { defaultDevice, defaultThreads } from '../../engine/tensor/index.ts'
import type {
  FrozenSampler,
  ModelBackend,
  OptimStep,
  SampleOptions,
  SampleOutput,
  SampleRequest,
} from '../model-backend.ts'
import type { StoredType } from '../../engine/nn/index.ts'
import { optimizerLost, readCheckpoint, writeCheckpoint } from '../checkpoint/checkpoint.ts'
import type { Checkpoint } from '../checkpoint/checkpoint.ts'
import { firstDifference } from '../model/config.ts'
import type { TransformerConfig } from '../model/config.ts'
import { batchLimits } from '../model/memory.ts'
import { createOptimizer, createOptimizerState } from '../model/optimizer.ts'
import type { OptimizerState } from '../model/optimizer.ts'
import { initialiseParameters } from '../model/parameters.ts'
import type { Parameters } from '../model/parameters.ts'
import { createFrozenSamplers } from './frozen-samplers.ts'
import type { FrozenSamplers } from './frozen-samplers.ts'
import { createParallelLearner } from './parallel-learner.ts'
import { createParallelSampler, withPromptLogprobs } from './parallel-sampler.ts'
import { requireProcessor, type SamplingWeights } from '../sampling/quantised-weights.ts'
import { needsTexts } from '../sampling/requests.ts'
import { createThreads, createTurnQueue } from './threads.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'

export interface LocalBackendOptions {
  config: TransformerConfig
  /** Used without copying. Default: initialised from `seed`. */
  parameters?: Parameters
  seed?: number
  tokenizer?: Tokenizer
  /** Files of a public checkpoint to save with it, see `Checkpoint`. */
  companions?: Checkpoint['companions']
  weightVersion?: number
  /** Which weights to train. Default: all. With LoRA, only gradients of the adapter are computed. */
  trainable?: Trainable
  /** An adapter to train that `parameters` already include. Used without copying. */
  adapter?: Adapter
  /** Optimiser state to resume from. Used without copying. */
  optimizer?: OptimizerState
  /**
   * Number of threads; fixed for repeatable results. Default: `AGOGE_THREADS`, else 2; 1 on devices other than the CPU
   * (`AGOGE_DEVICE`).
   */
  threads?: number
  /**
   * Whether all of these threads are others than the one that calls, which then can answer others while the model computes. On the
   * CPU only. It takes memory for another copy of the weights. Default: one of them is the thread that calls.
   */
  apart?: boolean
  /**
   * Tokens of each thread's micro-batch, padding included. Fewer are slower; more cost padding and memory. Default:
   * 1024.
   */
  tokenBudget?: number
  /**
   * Packs several sequences into rows of this many tokens, isolated from each other. This reduces padding if lengths
   * differ much, and gives all batches one shape, at the cost of attention over longer rows. Log-probabilities and
   * gradients agree up to rounding. Longer sequences are padded as usual. Default: no packing, which is faster on a CPU
   * for models and lengths like those of the main job (docs/guides/models.md).
   */
  packing?: number
  /**
   * Limit for the memory of training: `standingBytes` plus the activations of every thread. The sampler's cache, the
   * program and the runtime's own memory come on top. Micro-batches are reduced to what fits, and blocks are recomputed
   * if a sequence does not fit otherwise. Default: no limit.
   */
  memoryBytes?: number
  /**
   * Whether to recompute blocks for their gradients, which saves memory and costs time. Default: only if `memoryBytes`
   * requires it.
   */
  recompute?: boolean
  /** Memory for the sampler's keys and values. Default: 192 MB. */
  cacheBytes?: number
  /**
   * Precision of the sampler's matrices. Default: `float32`. `int8` (CPU only) is faster for larger models. The
   * sampling policy then differs from the trained one: its log-probabilities are reported, and its weights are
   * quantised again after each change.
   */
  samplingWeights?: SamplingWeights
}

/** A model in this process: the operations of `ModelBackend`, by default on the CPU. */
export interface LocalBackend extends ModelBackend {
  readonly config: TransformerConfig
  /** The live weights. Read them, or write into them and call `weightsChanged`. */
  readonly parameters: Parameters
  readonly tokenizer: Tokenizer | undefined
  /** The trained adapter, if there is one. Read-only. */
  readonly adapter: Adapter | undefined
  /**
   * Like `sample`, but does not wait for other calls. Its rows join the rows that are being decoded at their next
   * token, and leave when they end (continuous batching). For many users of one model. The tokens equal those of
   * `sample` up to floating-point rounding, which depends on the other rows in the batch. Training uses `sample`, which
   * is reproducible to the last bit.
   */
  readonly continuousBatching: (requests: SampleRequest[], options: SampleOptions) => Promise<SampleOutput[]>
  optimStep(step: OptimStep): Promise<{ gradientNorm: number }>
  /**
   * Creates a sampler of the current weights in its own threads, as many as this backend has. It draws exactly what
   * `sample` would with an empty cache, while this backend trains.
   *
   * @throws AgogeError `unsupported-overlap` on devices other than the CPU.
   */
  freeze(): Promise<FrozenSampler>
  /** Incremented by every `optimStep`; stored with samples and checkpoints. */
  readonly weightVersion: number
  /** Resets the optimiser's averages, as at the start of a new training stage. */
  resetOptimizer(): void
  /** Clears cached prompts, so that the next samples equal those of a fresh process to the last digit. */
  clearCache(): void
  /** Call it after writing to `parameters`: increments the version and clears the caches. */
  weightsChanged(): void
  /** Like `save`, but without the optimiser and with an adapter merged into the weights; for publication. */
  export(folder: string, type?: StoredType): Promise<void>
  /** Saves only the adapter, in PEFT's layout. `base` is the name of the base model in its config. */
  exportAdapter(folder: string, options?: { base?: string; type?: StoredType }): Promise<void>
  dispose(): Promise<void>
}

/**
 * Creates a trainable model in this process, by default on the CPU. Calls run one after another. Checkpoints do not
 * include gradients that were not applied yet. Call `dispose` to free the sessions.
 */
export function createLocalBackend(options: LocalBackendOptions): LocalBackend {
  const { config, tokenizer: givenTokenizer, samplingWeights = 'float32' } = options
  if (samplingWeights === 'int8') requireProcessor()
  const parameters = options.parameters ?? initialiseParameters(config, options.seed ?? 0)
  // CPU threads share the rows; other devices are not shared.
  const count = options.threads ?? (defaultDevice() === 'cpu' ? defaultThreads : 1)
  const cacheBytes = Math.floor((options.cacheBytes ?? 192 * 2 ** 20) / count)
  const optimizer = createOptimizer(count)
  const { trainable, adapter } = options
  const trained = createTrained({ config, parameters, trainable, adapter, threads: count })
  const moved = trained.moved.layout.size
  const limits = batchLimits(config, options, { threads: count, moved })
  const apart = options.apart === true && defaultDevice() === 'cpu'
  const lowRank = trained.adapter && lowRankOf(trained.adapter, parameters.layout)
  const learned = { config, parameters, ...defined({ lowRank }), ...limits }
  const threads = createThreads({ ...learned, count, apart, cacheBytes, samplingWeights })
  const learner = createParallelLearner({ ...learned, threads })
  const sampler = createParallelSampler({ config, parameters, threads, cacheBytes, samplingWeights })
  const freshState = (): OptimizerState => createOptimizerState(moved)
  let frozen: FrozenSamplers | undefined
  let state = options.optimizer ?? freshState()
  let writtenFromOutside = false
  let tokenizer = givenTokenizer
  let { companions } = options
  let weightVersion = options.weightVersion ?? 0
  const turns = createTurnQueue()
  const inTurn = turns.alone
  const forwardQueue = createTurnQueue()
  /** The tokenizer whose texts the sampler uses. */
  let observedTokenizer: Tokenizer | undefined
  const withTexts = () => ({
    config,
    parameters,
    ...defined({ tokenizer, companions }),
  })
  const training = () => ({
    optimizer: state,
    ...defined({ tensors: trained.tensors, adapter: trained.adapter }),
  })
  const takeWritten = async (): Promise<void> => {
    if (writtenFromOutside) await trained.read()
    writtenFromOutside = false
  }
  const weightsAreOthers = (): void => {
    threads.weightsChanged()
    sampler.clear()
  }

  async function sampleRows(
    requests: readonly SampleRequest[],
    sampleOptions: SampleOptions,
    concurrent: boolean,
  ): Promise<SampleOutput[]> {
    if (tokenizer !== undefined && tokenizer !== observedTokenizer && needsTexts(requests, sampleOptions)) {
      sampler.setTexts(tokenizer.texts())
      observedTokenizer = tokenizer
    }
    const outputs = await sampler.sample(requests, sampleOptions, weightVersion, concurrent)
    // The learner serves one call at a time.
    return withPromptLogprobs(requests, sampleOptions, outputs, (prompts) =>
      forwardQueue.alone(() => learner.forward(prompts, { signal: sampleOptions.signal })),
    )
  }

  return {
    config,
    parameters,
    get tokenizer() {
      return tokenizer
    },
    adapter: trained.adapter,
    get weightVersion() {
      return weightVersion
    },
    sample: (requests, sampleOptions) => inTurn(() => sampleRows(requests, sampleOptions, false)),
    continuousBatching: (requests, sampleOptions) =>
      turns.concurrent(() => sampleRows(requests, sampleOptions, true)),
    forward: (sequences, { signal, temperatures } = {}) =>
      inTurn(() => learner.forward(sequences, { signal, temperatures })),
    entropies: (sequences, { signal, temperatures } = {}) =>
      inTurn(() => learner.forward(sequences, { signal, temperatures, what: 'entropies' })),
    forwardBackward: (sequences, loss, { signal } = {}) =>
      inTurn(() => learner.forwardBackward(sequences, loss, { signal })),
    optimStep: (step) =>
      inTurn(async () => {
        try {
          await takeWritten()
          const gradient = trained.gradientOf(learner.gradient)
          const gradientNorm = await optimizer.step(trained.moved, gradient, state, step)
          await trained.write()
          weightsAreOthers()
          weightVersion++
          return { gradientNorm }
        } finally {
          learner.gradient.fill(0)
        }
      }),
    freeze: () =>
      inTurn(async () => {
        frozen ??= createFrozenSamplers({
          config,
          threads: count,
          ...defined({ cacheBytes: options.cacheBytes }),
        })
        return frozen.of({ data: parameters.data.slice(), weightVersion, tokenizer })
      }),
    resetOptimizer() {
      state = freshState()
    },
    clearCache: () => sampler.clear(),
    weightsChanged() {
      writtenFromOutside = true
      weightsAreOthers()
      weightVersion++
    },
    save: (folder) =>
      inTurn(async () => {
        // The cache changes results in the last digit; a continuous run and a resumed one must agree.
        sampler.clear()
        await takeWritten()
        await writeCheckpoint(folder, { ...withTexts(), ...training(), weightVersion })
      }),
    export: (folder, type) =>
      inTurn(() => writeCheckpoint(folder, { ...withTexts(), weightVersion: 0 }, type)),
    exportAdapter: (folder, exported) =>
      inTurn(async () => {
        if (trained.adapter === undefined)
          throw new AgogeError('there is no adapter: training updates the weights themselves', {
            code: 'no-adapter',
            given: folder,
            expected: 'a backend made with trainable: { lora: ... }',
            hint: 'export writes the whole model',
          })
        await takeWritten()
        await writeAdapter(folder, trained.adapter, {
          ...exported,
          layers: config.num_hidden_layers,
          baseHash: hashWeights(parameters, trained.adapter),
        })
      }),
    load: (folder) =>
      inTurn(async () => {
        const loaded = await readCheckpoint(folder)
        const changed = firstDifference(loaded.config, config)
        if (changed !== undefined) {
          throw new AgogeError(`${folder}: config.json describes another architecture in ${changed}`, {
            code: 'bad-checkpoint',
            given: loaded.config[changed],
            expected: JSON.stringify(config[changed] ?? null),
            hint: 'open it with loadLocalBackend, which takes the architecture from the checkpoint',
          })
        }
        checkSameTraining(folder, loaded, trained)
        if (loaded.optimizerLost === true) throw optimizerLost(folder)
        parameters.data.set(loaded.parameters.data)
        trained.restart(loaded.adapter)
        writtenFromOutside = false
        state = loaded.optimizer ?? freshState()
        tokenizer = loaded.tokenizer ?? tokenizer
        companions = loaded.companions ?? companions
        weightVersion = loaded.weightVersion
        learner.gradient.fill(0)
        weightsAreOthers()
      }),
    dispose: () =>
      inTurn(async () => {
        const parts = [learner, sampler, optimizer, trained, threads]
        await Promise.all([...parts.map((part) => part.dispose()), frozen?.dispose()])
      }),
  }
}

export interface LoadOptions extends Omit<
  LocalBackendOptions,
  'config' | 'parameters' | 'seed' | 'weightVersion' | 'optimizer' | 'adapter'
> {
  /** The folder of a PEFT LoRA adapter for this model, to apply and train. */
  adapter?: string
}

/**
 * Creates a backend with the architecture, weights, tokenizer and optimiser state of a checkpoint folder, and resumes
 * its training. With `trainable` or `adapter` a new training starts from these weights.
 */
export async function loadLocalBackend(folder: string, options: LoadOptions = {}): Promise<LocalBackend> {
  const { adapter: adapterFolder, trainable, ...others } = options
  const { adapter, tensors, optimizer, ...model } = await readCheckpoint(folder)
  const given = { ...others, ...model }
  if (adapterFolder !== undefined) {
    const read = await readAdapter(adapterFolder, model.parameters)
    return createLocalBackend({ ...given, adapter: read, ...(trainable && { trainable }) })
  }
  if (trainable !== undefined) return createLocalBackend({ ...given, trainable })
  return createLocalBackend({
    ...given,
    ...(optimizer && { optimizer }),
    ...(adapter && { adapter }),
    ...(tensors && { trainable: { tensors } }),
  })
}
