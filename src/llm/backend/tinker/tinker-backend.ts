import { basename } from 'node:path'
import type { TrainingSequence } from '../../episode/types.ts'
import { AgogeError } from '../../../error.ts'
import type {
  ForwardOptions,
  FrozenSampler,
  LossReport,
  LossSettings,
  ModelBackend,
  SampleOptions,
  SampleOutput,
  SampleRequest,
} from '../../model-backend.ts'
import { checkTemperatures, checkTraining } from '../sequences.ts'
import { forwardBackward, requireFinite } from '../custom-loss.ts'
import { inParallel } from '../../in-parallel.ts'
import { adamParams, createRemoteModel, createRemoteTraining, gradientNorm } from './remote-model.ts'
import { createAnswerReader, createTransport, orAborted, serverUrl, type Transport } from './transport.ts'
import {
  checkVocabulary,
  isAgogeConfig,
  onlyModel,
  openSession,
  requestIdOf,
  retrieveFuture,
} from './session.ts'
import { holdsNote, readNote, writeNote } from './checkpoint-note.ts'
import {
  checkUntempered,
  chunkSizes,
  extendedInput,
  fitsOneRequest,
  forwardInput,
  joinReports,
  mixedLoss,
  plainInput,
  readLogprobs,
  readReport,
} from './loss-requests.ts'
import { readSamples, sampleGroups } from './sampling.ts'
import type { Tokenizer } from '../../tokenizer/tokenizer.ts'

export interface TinkerBackendOptions {
  /** Address of the server, e.g. http://127.0.0.1:8765. */
  baseUrl: string
  /** Default: the environment variable TINKER_API_KEY. It is sent only to the server and never stored. */
  apiKey?: string
  /** Name of the base model on the server. Default: its only model. */
  model?: string
  /** The tokenizer of the model. If given, checks that the model was trained with it. Default: no check. */
  tokenizer?: Tokenizer
  /** Rank of the trained adapter. Default: 0, which trains all weights if the server supports it. */
  loraRank?: number
  /** Seed of the adapter's weights. Default: 0. */
  seed?: number
  /**
   * Seconds to retry a request while the server is busy, failing or unreachable; at most 10 for the first requests.
   * Default: 300.
   */
  patienceSeconds?: number
  /** Timeout of one attempt in seconds. Default: 60. */
  timeoutSeconds?: number
  /** Longest wait for the result of a request in seconds. Default: 3600. */
  deadlineSeconds?: number
  /** First pause between attempts in seconds; doubles up to 30. Default: 0.5. */
  backoffSeconds?: number
  /** Concurrent requests of one `sample` call. Default: 32. */
  concurrency?: number
  /** Called when a request has been retried for some seconds. */
  onTrouble?: (text: string) => void
}

/** A model on a Tinker server. */
export interface TinkerBackend extends ModelBackend {
  readonly baseModel: string
  /** Number of optimiser steps applied to the weights. */
  readonly weightVersion: number
  /**
   * Creates a sampler of the current weights, valid as long as the server keeps them. Agoge's server draws from it
   * while training continues. Whether other servers do so, and whether their samplers are frozen, depends on the
   * server.
   */
  freeze(): Promise<FrozenSampler>
  /** Clears the sampling cache before the next call, if the server has one. */
  clearCache(): void
  /** Resets the optimiser's averages before the next call. */
  resetOptimizer(): void
  /** Ends the session and releases the model. Saved checkpoints stay on the server. */
  dispose(): Promise<void>
}

/**
 * Trains a model on a server of the Tinker protocol: the hosted service, SkyRL's, or `agoge serve --tinker`. Gradients,
 * weights and optimiser stay on the server. `save` saves them there and writes a note with their location. Requests are
 * sent in the order of the calls without waiting for results. They are numbered, so a request that is sent twice is
 * carried out once.
 *
 * An optimiser step that is aborted or times out may or may not have changed the model. Afterwards only `load` is
 * possible; after an aborted training pass, only calls that do not depend on the gradient.
 *
 * @throws AgogeError here and in the methods: `tinker-unreachable`, `tinker-overloaded`, `tinker-server-error`,
 * `tinker-unauthorised`, `tinker-not-found`, `tinker-refused`, `tinker-request-failed`, `tinker-bad-answer`,
 * `tinker-deadline`, with the server's message and what to do; `tinker-vocabulary` if the model was trained with
 * another tokenizer than the given one.
 */
export async function createTinkerBackend(
  options: TinkerBackendOptions,
  context: { signal?: AbortSignal } = {},
): Promise<TinkerBackend> {
  const { loraRank = 0, seed = 0, deadlineSeconds = 3600, concurrency = 32, tokenizer } = options
  const transport = transportTo(options)
  const first = firstPatience(options)
  const { host } = transport
  const baseModel = options.model ?? (await onlyModel(transport, first, context.signal))
  const session = await openSession(transport, first, context.signal)
  const { extended } = session
  const making = { transport, session, baseModel, loraRank, seed, deadlineSeconds }
  const training = await createRemoteTraining(transport, () => createRemoteModel(making)).catch(
    (error: unknown) => {
      session.close()
      throw error
    },
  )
  let weightVersion = 0
  let sampler: Promise<string> | undefined
  let samples = 0
  let batches = 0
  let saves = 0
  /** Checkpoints of this process: paths on the server, and folders. */
  const kept = new Map<string, string>()
  const checkpointName = (wish: string): string =>
    `${wish.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 100)}-${++saves}`

  /** Splits calls into parts that the server accepts. All parts are sent before the first result is awaited. */
  function inChunks<T extends { tokens: Int32Array }, R>(
    sequences: readonly T[],
    send: (chunk: readonly T[]) => Promise<R>,
  ): Promise<R[]> {
    let at = 0
    return Promise.all(
      chunkSizes(sequences, session.chunk).map((size) => send(sequences.slice(at, (at += size)))),
    )
  }

  async function forward(
    sequences: readonly Int32Array[],
    { signal, temperatures }: ForwardOptions,
  ): Promise<Float32Array[]> {
    checkTemperatures(sequences, temperatures)
    const long = sequences.flatMap((tokens, i) => {
      const drawnAt = temperatures?.[i]
      return tokens.length > 1 ? [{ tokens, i, ...(drawnAt && { temperatures: drawnAt }) }] : []
    })
    if (!extended) checkUntempered(long)
    const parts = await inChunks(long, async (rows) => {
      const body = { forward_input: forwardInput(rows) }
      const output = await training.change({
        path: 'forward',
        body,
        what: 'A forward pass',
        ...abortOf(signal),
      })
      return readLogprobs(host, output, rows)
    })
    const results: Float32Array[] = sequences.map((tokens) => new Float32Array(tokens.length))
    parts.flat().forEach((logprobs, i) => (results[long[i].i] = logprobs))
    return results
  }

  async function learn(
    sequences: readonly TrainingSequence[],
    loss: LossSettings,
    signal?: AbortSignal,
  ): Promise<LossReport> {
    const what = 'A training pass'
    let parts = 0
    const reports = await inChunks(sequences, async (rows) => {
      parts++
      const body = extended
        ? { forward_backward_input: extendedInput(rows, loss), agoge: { logprobs: false } }
        : { forward_backward_input: plainInput(rows, loss) }
      const output = await training.change({ path: 'forward_backward', body, what, ...abortOf(signal) })
      return readReport(host, output, rows, loss)
    }).catch((error: unknown) => {
      // It is unknown which of the other parts are in the gradient.
      if (parts > 1) training.halfDone(what)
      throw error
    })
    return joinReports(reports)
  }

  /** Sampling uses the weights at the time its session was created. */
  function makeSampler(apart = false): Promise<string> {
    const path = 'save_weights_for_sampler'
    const asked = { type: path, sampling_session_seq_id: session.nextSampler() }
    const body = apart && extended ? { ...asked, agoge: { apart } } : asked
    return training
      .change({ path, body, what: 'Handing the weights to the sampler' })
      .then((result) => createAnswerReader(host, path).text(result, 'sampling_session_id'))
  }

  /** Shared by all callers at these weights, so that no caller can abort it for the others. */
  function currentSampler(): Promise<string> {
    if (sampler !== undefined) return sampler
    const mine = makeSampler()
    sampler = mine
    mine.catch(() => {
      if (sampler === mine) sampler = undefined
    })
    return mine
  }

  async function sampleFrom(
    sampler: string,
    version: number,
    requests: readonly SampleRequest[],
    sampleOptions: SampleOptions,
  ): Promise<SampleOutput[]> {
    const abort = abortOf(sampleOptions.signal)
    const batch = `${session.id}-${++batches}`
    const groups = sampleGroups(requests, sampleOptions, { sampler, extended, batch })
    const taken = await inParallel(groups, concurrency, async ({ rows, body }) => {
      const full = { ...body, seq_id: ++samples }
      const answer = await transport.call({ path: 'asample', body: full, ...abort })
      return { rows, requestId: requestIdOf(transport, 'asample', answer.body) }
    })
    const results: SampleOutput[] = []
    await inParallel(taken, concurrency, async ({ rows, requestId }) => {
      const waiting = { what: 'Sampling', deadlineSeconds, ...abort }
      const result = await retrieveFuture(transport, requestId, waiting)
      readSamples(host, result, rows.length, version).forEach((output, i) => (results[rows[i]] = output))
    })
    return results
  }

  const backend: TinkerBackend = {
    baseModel,
    get weightVersion() {
      return weightVersion
    },
    async sample(requests, sampleOptions) {
      if (requests.length === 0) return []
      training.requireWeights('Sampling')
      const version = weightVersion
      return sampleFrom(
        await orAborted(currentSampler(), sampleOptions.signal),
        version,
        requests,
        sampleOptions,
      )
    },
    async freeze() {
      const version = weightVersion
      const id = await makeSampler(true)
      return {
        weightVersion: version,
        sample: async (requests, sampleOptions) =>
          requests.length === 0 ? [] : sampleFrom(id, version, requests, sampleOptions),
      }
    },
    forward: (sequences, forwardOptions = {}) => forward(sequences, forwardOptions),
    async forwardBackward(sequences, loss, { signal } = {}) {
      checkTraining(sequences, loss)
      // JSON cannot represent it.
      requireFinite(sequences)
      if (loss.entropyCoefficient !== undefined && loss.entropyCoefficient !== 0)
        throw new AgogeError('the protocol has no exact entropy bonus', {
          code: 'unsupported-loss',
          given: { entropyCoefficient: loss.entropyCoefficient },
          expected: 'a loss of log-probabilities',
          hint: 'estimate it from the sampled tokens (`entropy` of the policy settings), or train in this process',
        })
      if (!extended) checkUntempered(sequences)
      if (extended || fitsOneRequest(sequences, loss)) return learn(sequences, loss, signal)
      const passes = {
        forward: (rows: Int32Array[]) => forward(rows, abortOf(signal)),
        forwardBackward: (rows: TrainingSequence[], settings: LossSettings) => learn(rows, settings, signal),
      }
      return forwardBackward(passes, sequences, mixedLoss(loss))
    },
    async optimStep(step) {
      const body = { type: 'optim_step', adam_params: adamParams(step, extended, host) }
      const { metrics } = await training.change({ path: 'optim_step', body, what: 'A step of the optimiser' })
      sampler = undefined
      training.moved()
      weightVersion++
      return { gradientNorm: gradientNorm(metrics) }
    },
    clearCache() {
      sampler = undefined
    },
    resetOptimizer() {
      sampler = undefined
      training.resetOptimizer(checkpointName('reset'))
    },
    async save(folder) {
      const path = await training.save(checkpointName(basename(folder)))
      writeNote(folder, { schema: 1, path, baseModel, loraRank, weightVersion, server: host })
      // Deletes checkpoints of this process that no folder refers to any more.
      for (const [old, where] of kept) {
        if (holdsNote(where, old)) continue
        kept.delete(old)
        await training.remove(old)
      }
      kept.set(path, folder)
    },
    async load(folder) {
      const note = readNote(folder)
      if (note.baseModel !== baseModel || note.loraRank !== loraRank) {
        throw new AgogeError(`${folder} is of another model`, {
          code: 'bad-checkpoint',
          given: `${note.baseModel}, LoRA rank ${note.loraRank}`,
          expected: `${baseModel}, LoRA rank ${loraRank}`,
        })
      }
      sampler = undefined
      await training.load(note.path)
      weightVersion = note.weightVersion
    },
    async dispose() {
      session.close()
      await training.dispose()
    },
  }
  if (tokenizer !== undefined)
    await checkVocabulary(backend, tokenizer, { model: baseModel, host }, abortOf(context.signal)).catch(
      async (error: unknown) => {
        await backend.dispose()
        throw error
      },
    )
  return backend
}

/**
 * Whether a server is Agoge's own, which supports extensions such as Muon.
 *
 * @throws AgogeError like `createTinkerBackend` if there is no server or it refuses the key.
 */
export async function isAgogeServer(
  options: Omit<TinkerBackendOptions, 'tokenizer'>,
  context: { signal?: AbortSignal } = {},
): Promise<boolean> {
  return isAgogeConfig(transportTo(options), {
    patienceSeconds: firstPatience(options),
    ...abortOf(context.signal),
  })
}

/** How long the first requests are retried: a wrong address should fail quickly. */
const firstPatience = ({ patienceSeconds = 10 }: TinkerBackendOptions): number =>
  Math.min(10, patienceSeconds)

function transportTo(options: TinkerBackendOptions): Transport {
  return createTransport({
    url: serverUrl(options.baseUrl),
    apiKey: options.apiKey ?? process.env['TINKER_API_KEY'],
    patienceSeconds: options.patienceSeconds ?? 300,
    timeoutSeconds: options.timeoutSeconds ?? 60,
    backoffSeconds: options.backoffSeconds ?? 0.5,
    onTrouble: options.onTrouble,
  })
}

const abortOf = (signal: AbortSignal | undefined): { signal?: AbortSignal } =>
  signal === undefined ? {} : { signal }
