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
import { adamParams, createRemoteTraining, gradientNorm } from './remote-training.ts'
import {
  createAnswerReader,
  createTransport,
  inParallel,
  orAborted,
  serverUrl,
  type Transport,
} from './transport.ts'
import { checkVocabulary, onlyModel } from './check-model.ts'
import { holdsNote, readNote, writeNote } from './checkpoint-note.ts'
import {
  checkUntempered,
  chunkSizes,
  extendedInput,
  fitsOneRequest,
  forwardInput,
  mixedLoss,
  plainInput,
} from './loss-requests.ts'
import { isAgogeConfig, openSession, requestIdOf, retrieveFuture } from './session.ts'
import { createRemoteModel } from './remote-model.ts'
import { joinReports, readLogprobs, readReport } from './remote-report.ts'
import { readSamples, sampleGroups } from './sampling.ts'
import type { Tokenizer } from '../../tokenizer/tokenizer.ts'

export interface TinkerBackendOptions {
  /** Of the server, e.g. http://127.0.0.1:8765. */
  baseUrl: string
  /** Default: the environment variable TINKER_API_KEY. It is sent to the server and written nowhere. */
  apiKey?: string
  /** Name of the base model there. Default: the only one that the server offers. */
  model?: string
  /** What makes tokens for the model: it is checked that the model was trained with it. Default: it is not checked. */
  tokenizer?: Tokenizer
  /** Rank of the adapter that is trained. Default 0: all weights, where the server can do that. */
  loraRank?: number
  /** Of the adapter's weights. Default 0. */
  seed?: number
  /** How long a request is tried again while the server is busy, broken or away; the first ones at most 10 s. Default 300. */
  patienceSeconds?: number
  /** How long one attempt may take. Default 60. */
  timeoutSeconds?: number
  /** How long the result of a request may take. Default 3600. */
  deadlineSeconds?: number
  /** First pause between attempts; it doubles up to half a minute. Default 0.5. */
  backoffSeconds?: number
  /** Requests of one call of `sample` at the same time. Default 32. */
  concurrency?: number
  /** Called when a request has been tried again for some seconds. */
  onTrouble?: (text: string) => void
}

/** A model on a Tinker server. */
export interface TinkerBackend extends ModelBackend {
  readonly baseModel: string
  /** Steps that the weights have behind them. */
  readonly weightVersion: number
  /**
   * A sampler of the weights as they are now, for as long as the server keeps them: Agoge's draws beside training then; how another does is its
   * matter, and so is whether what it calls a sampler stands still.
   */
  freeze(): Promise<FrozenSampler>
  /** From the next call on, samples come from a cache that is empty, where the server has one. */
  clearCache(): void
  /** From the next call on, the averages of the optimiser are those of a beginning. */
  resetOptimizer(): void
  /** Ends the session and lets go of the model. What was saved stays on the server. */
  dispose(): Promise<void>
}

/**
 * A model that is trained by a server of the Tinker protocol: the hosted service, SkyRL's, or `agoge serve --tinker`.
 * Gradients, weights and optimiser are there; `save` asks the server to keep them and writes a note of where they are. Requests are
 * sent in the order of the calls, without waiting for results in between, and are numbered, so that one which is sent again
 * is not carried out twice.
 *
 * A step that is aborted or runs into its deadline may or may not have changed the model: after it only `load` is possible, after a
 * training pass only what does not build on the gradient.
 *
 * @throws AgogeError here and in the verbs: `tinker-unreachable`, `tinker-overloaded`, `tinker-server-error`,
 *   `tinker-unauthorised`, `tinker-not-found`, `tinker-refused`, `tinker-request-failed`, `tinker-bad-answer`, `tinker-deadline`, with what the
 *   server said and what to do; `tinker-vocabulary` where the model was trained with another tokenizer than the one given.
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

  /** Calls in parts that the server takes; all are sent before the first is waited for. */
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
      // Of the others nobody knows which are in the gradient.
      if (parts > 1) training.halfDone(what)
      throw error
    })
    return joinReports(reports)
  }

  /** Sampling sees the weights of the moment in which its session was made. */
  function makeSampler(apart = false): Promise<string> {
    const path = 'save_weights_for_sampler'
    const asked = { type: path, sampling_session_seq_id: session.nextSampler() }
    const body = apart && extended ? { ...asked, agoge: { apart } } : asked
    return training
      .change({ path, body, what: 'Handing the weights to the sampler' })
      .then((result) => createAnswerReader(host, path).text(result, 'sampling_session_id'))
  }

  /** One for all who ask at these weights, so that none of them can break it off for the others. */
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
      // JSON has no word for it.
      requireFinite(sequences)
      if (loss.entropyCoefficient !== undefined && loss.entropyCoefficient !== 0)
        throw new AgogeError('a bonus for the exact entropy is nothing that the protocol has', {
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
      // What this process saved and the folders no longer tell of is needed by nobody.
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
 * Whether a server is Agoge's own, which takes more than the protocol says (Muon, for one).
 *
 * @throws AgogeError as `createTinkerBackend` does where there is no server, or it refuses the key.
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

/** How long the first requests are tried: a wrong address should show at once. */
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
