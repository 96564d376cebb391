import { defined } from '../../defined.ts'
import { hashWeights } from '../adapter/base-hash.ts'
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
import { needsTexts } from '../sampling/sample-requests.ts'
import { createThreads, createTurnQueue } from './threads.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'

export interface LocalBackendOptions {
  config: TransformerConfig
  /** Taken over, not copied. Left out: initialised from `seed`. */
  parameters?: Parameters
  seed?: number
  tokenizer?: Tokenizer
  /** Files of a public checkpoint that are saved with it, see `Checkpoint`. */
  companions?: Checkpoint['companions']
  weightVersion?: number
  /** Which weights training moves. Default: all. Gradients of all are computed in any case. */
  trainable?: Trainable
  /** An adapter that `parameters` have in them already, to be trained on; taken over. */
  adapter?: Adapter
  /** Where training goes on from; taken over. */
  optimizer?: OptimizerState
  /** Fixed for repeatable results. Default: `AGOGE_THREADS`, else 2; 1 on another device than the processor (`AGOGE_DEVICE`). */
  threads?: number
  /** Tokens of a micro-batch of each thread, padding included. Default: 1024: fewer are slower, more are padded more and take more memory. */
  tokenBudget?: number
  /**
   * Tokens of a row that several sequences share, none of which sees another: less padding where lengths differ much, and batches of one shape,
   * for attention over longer rows. Log-probabilities and gradients are those without it but for rounding. Sequences longer than
   * a row are padded as without it. A row each by default, which is quicker on a processor for models and lengths like those of the main
   * job (docs/guides/models.md).
   */
  packing?: number
  /**
   * What training may take in all (`standingBytes` and the activations of every thread; the sampler's cache, the program and what the
   * runtime keeps for itself are beside it): micro-batches are cut down to what fits, and blocks recomputed where a sequence
   * would not fit otherwise. Default: as much as it needs.
   */
  memoryBytes?: number
  /** Whether blocks are computed again for their gradients, which takes less memory and more time. Default: where `memoryBytes` asks for it. */
  recompute?: boolean
  /** What the sampler's keys and values may take. Default: 192 MB. */
  cacheBytes?: number
  /**
   * What the matrices of the sampler are held in. Default: `float32`. `int8`, on the processor only, is quicker for larger models, and
   * another policy than the one that is trained: its log-probabilities are those reported, its weights are quantised again after each change.
   */
  samplingWeights?: SamplingWeights
}

/** A model in this process: the verbs of `ModelBackend` on the CPU. */
export interface LocalBackend extends ModelBackend {
  readonly config: TransformerConfig
  /** The live weights: read them, or copy into them and call `weightsChanged`. */
  readonly parameters: Parameters
  readonly tokenizer: Tokenizer | undefined
  /** What is trained instead of weights, if it is; read only. */
  readonly adapter: Adapter | undefined
  /**
   * As `sample`, but does not wait for other calls of its kind: its rows join those that are being decoded at their next token, and
   * leave when they end. The tokens are those of `sample` but for the rounding of floating-point numbers, which depends on who else is
   * in the batch; training samples by `sample`, which repeats to the last bit. For many users of one model.
   */
  readonly continuousBatching: (requests: SampleRequest[], options: SampleOptions) => Promise<SampleOutput[]>
  optimStep(step: OptimStep): Promise<{ gradientNorm: number }>
  /**
   * A sampler of the weights as they are now, in threads of its own, as many as this backend has: it draws what `sample` would with an empty
   * cache, bit for bit, while this backend trains.
   *
   * @throws AgogeError `unsupported-overlap` on another device than the processor.
   */
  freeze(): Promise<FrozenSampler>
  /** Raised by every `optimStep`; stored with samples and checkpoints. */
  readonly weightVersion: number
  /** Forgets the optimisers' averages, as at the start of another stage of training. */
  resetOptimizer(): void
  /** Forgets cached prompts: what is sampled next is the same, to the last digit, as in a fresh process. */
  clearCache(): void
  /** Says that `parameters` were written from outside: raises the version and drops what was cached. */
  weightsChanged(): void
  /** As `save`, without the optimiser, for publication; an adapter is merged into the weights. */
  export(folder: string, type?: StoredType): Promise<void>
  /** The adapter alone as PEFT reads it; `base` is the name of the model beneath that its config tells. */
  exportAdapter(folder: string, options?: { base?: string; type?: StoredType }): Promise<void>
  dispose(): Promise<void>
}

/**
 * A trainable model on this machine's CPU. Calls are carried out one after the other. Gradients that were not yet
 * applied are not part of a checkpoint. Call `dispose` to free the sessions.
 */
export function createLocalBackend(options: LocalBackendOptions): LocalBackend {
  const { config, tokenizer: givenTokenizer, samplingWeights = 'float32' } = options
  if (samplingWeights === 'int8') requireProcessor()
  const parameters = options.parameters ?? initialiseParameters(config, options.seed ?? 0)
  // Rows are dealt out to the threads of a processor; another device is not shared.
  const count = options.threads ?? (defaultDevice() === 'cpu' ? defaultThreads : 1)
  const cacheBytes = Math.floor((options.cacheBytes ?? 192 * 2 ** 20) / count)
  const optimizer = createOptimizer(count)
  const { trainable, adapter } = options
  const trained = createTrained({ config, parameters, trainable, adapter, threads: count })
  const moved = trained.moved.layout.size
  const limits = batchLimits(config, options, { threads: count, moved })
  const threads = createThreads({ config, parameters, count, cacheBytes, samplingWeights, ...limits })
  const learner = createParallelLearner({ config, parameters, threads, ...limits })
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
  /** Whose texts the sampler knows. */
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
    // The learner is nobody's but of one call.
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
          const gradient = await trained.gradientOf(learner.gradient)
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
        // What is cached changes results in the last digit; a run that goes on and one that resumes must be alike.
        sampler.clear()
        await takeWritten()
        await writeCheckpoint(folder, { ...withTexts(), ...training(), weightVersion })
      }),
    export: (folder, type) =>
      inTurn(() => writeCheckpoint(folder, { ...withTexts(), weightVersion: 0 }, type)),
    exportAdapter: (folder, exported) =>
      inTurn(async () => {
        if (trained.adapter === undefined)
          throw new AgogeError('there is no adapter: training moves the weights themselves', {
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
  /** The folder of a PEFT LoRA adapter for this model, to be applied and trained on. */
  adapter?: string
}

/**
 * A backend with the architecture, weights, tokenizer and optimiser state of a checkpoint folder, which goes on training what was
 * trained there. With `trainable` or `adapter` another training begins, on top of the weights as they are.
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
