import { defined } from '../../../defined.ts'
import { AgogeError } from '../../../error.ts'
import type { OptimStep } from '../../model-backend.ts'
import { checkOptimStep } from '../../model/optimizer.ts'
import { badAnswerError, engineCodes } from './errors.ts'
import { requestIdOf, retrieveFuture } from './session.ts'
import type { TinkerSession } from './session.ts'
import type { Fields, Transport } from './transport.ts'
import type { AdamParams } from './wire.ts'

interface RemoteModelOptions {
  transport: Transport
  session: TinkerSession
  baseModel: string
  /** 0 = all weights, which only Agoge's and SkyRL's servers train. */
  loraRank: number
  seed: number
  deadlineSeconds: number
}

/** A queued request and its waiting caller. */
interface RemoteRequest {
  path: string
  /** Without model id and sequence id. */
  body: Fields
  what: string
  signal?: AbortSignal
}

/** A model on a server. Requests are sent one after another in the order of the calls. */
interface RemoteModel {
  readonly id: string
  /**
   * Sends a request and returns its result. The next request is sent once the server accepts this one, before its
   * result.
   */
  request(request: RemoteRequest): Promise<Fields>
  /** Tells the server that the model is no longer needed; ignores failures. */
  unload(): Promise<void>
}

export async function createRemoteModel(
  options: RemoteModelOptions,
  signal?: AbortSignal,
): Promise<RemoteModel> {
  const { transport, session, baseModel, loraRank, seed, deadlineSeconds } = options
  const abort = signal === undefined ? {} : { signal }
  const body = {
    type: 'create_model',
    session_id: session.id,
    model_seq_id: session.nextModel(),
    base_model: baseModel,
    // Leaves the head out, as in `LoraOptions`.
    lora_config: { rank: loraRank, seed, train_attn: true, train_mlp: true, train_unembed: false },
  }
  const { body: taken } = await transport.call({ path: 'create_model', body, ...abort })
  const made = await retrieveFuture(transport, requestIdOf(transport, 'create_model', taken), {
    what: `Making a model of ${baseModel}`,
    deadlineSeconds,
    ...abort,
  })
  const id = idOf(made) ?? idOf(taken as Fields) ?? ''
  let sequence = 0
  let last: Promise<unknown> = Promise.resolve()

  return {
    id,
    async request({ path, body: rest, what, signal: stop }) {
      const taken = last.then(async () => {
        stop?.throwIfAborted()
        // Counted even if it may be refused: nobody knows whether an interrupted request was accepted.
        const full = { ...rest, model_id: id, seq_id: ++sequence }
        const answer = await transport.call({
          path,
          body: full,
          ...defined({ signal: stop }),
        })
        return requestIdOf(transport, path, answer.body)
      })
      last = taken.catch(() => {})
      return retrieveFuture(transport, await taken, {
        what,
        deadlineSeconds,
        ...defined({ signal: stop }),
      })
    },
    async unload() {
      await last
      const unloading = { type: 'unload_model', model_id: id }
      await transport.call({ path: 'unload_model', body: unloading, patienceSeconds: 0 }).catch(() => {})
    },
  }
}

function idOf(fields: Fields): string | undefined {
  const value = fields['model_id']
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The model that is trained on the server; every load replaces it by a new one. */
interface RemoteTraining {
  /**
   * Sends a request for the model. If it is unknown whether an earlier request was carried out, dependent requests are
   * refused: after an optimiser step everything but `load`, after a training pass further passes and steps.
   */
  change(request: RemoteRequest): Promise<Fields>
  /** Marks the gradient as incomplete after an interrupted pass: further passes and steps are refused. */
  halfDone(what: string): void
  /** Throws if it is unknown which weights the model has. */
  requireWeights(what: string): void
  /** Marks the weights as changed since the last save. */
  moved(): void
  /** Saves weights and optimiser on the server; returns their path there. */
  save(name: string): Promise<string>
  load(path: string): Promise<void>
  /** Resets the optimiser before the next request; errors surface then. */
  resetOptimizer(name: string): void
  remove(path: string): Promise<void>
  dispose(): Promise<void>
}

/** A request that the server refused or failed has not changed the model. */
const reportedCodes = new Set(['tinker-refused', 'tinker-request-failed', 'tinker-too-large', ...engineCodes])

export async function createRemoteTraining(
  transport: Transport,
  make: () => Promise<RemoteModel>,
): Promise<RemoteTraining> {
  const { host } = transport
  let model = Promise.resolve(await make())
  let savedAt: string | undefined
  let unknown: { what: string; weights: boolean } | undefined

  async function change(request: RemoteRequest): Promise<Fields> {
    const changes = request.path === 'optim_step'
    const adds = request.path === 'forward_backward'
    if (unknown !== undefined && (unknown.weights || changes || adds))
      throw unknownState(host, unknown.what, request.what)
    const live = await model
    try {
      return await live.request(request)
    } catch (error) {
      const isReported = AgogeError.isInstance(error) && reportedCodes.has(error.code)
      if (!isReported && (changes || adds))
        unknown = { what: request.what, weights: changes || unknown?.weights === true }
      throw error
    }
  }

  async function saveOf(live: RemoteModel, name: string): Promise<string> {
    const body = { type: 'save_weights', path: name }
    const { path } = await live.request({ path: 'save_weights', body, what: 'Saving' })
    if (typeof path === 'string' && path.startsWith('tinker://')) return path
    throw badAnswerError(host, 'save_weights', 'no path', path)
  }

  async function remove(path: string): Promise<void> {
    const [id, ...checkpoint] = path.slice('tinker://'.length).split('/')
    const place = `training_runs/${id}/checkpoints/${checkpoint.join('/')}`
    await transport.call({ method: 'DELETE', path: place, patienceSeconds: 0 }).catch(() => {})
  }

  /** The protocol loads only into a new model. A checkpoint saved only for this purpose is deleted again. */
  function replace(
    source: (old: RemoteModel) => Promise<string>,
    optimizer: boolean,
    keptAt: string | undefined,
  ): Promise<RemoteModel> {
    const before = model
    // A model that could not be created leaves nothing to clean up.
    const old = before.catch((): undefined => undefined)
    return (async () => {
      const path = await source((await old) ?? (await before))
      const next = await make()
      const body = { type: 'load_weights', path, optimizer }
      await next.request({ path: 'load_weights', body, what: `Loading ${path}` })
      await (await old)?.unload()
      if (path !== keptAt) await remove(path)
      return next
    })()
  }

  return {
    change,
    halfDone(what) {
      unknown ??= { what, weights: false }
    },
    requireWeights(what) {
      if (unknown?.weights === true) throw unknownState(host, unknown.what, what)
    },
    moved() {
      savedAt = undefined
    },
    async save(name) {
      if (unknown?.weights === true) throw unknownState(host, unknown.what, 'Saving')
      savedAt = await saveOf(await model, name)
      return savedAt
    },
    async load(path) {
      const before = model
      model = replace(() => Promise.resolve(path), true, path)
      try {
        await model
      } catch (error) {
        model = before
        throw error
      }
      savedAt = path
      unknown = undefined
    },
    resetOptimizer(name) {
      const known = savedAt
      savedAt = undefined
      const source = async (old: RemoteModel): Promise<string> => known ?? saveOf(old, name)
      model = replace(source, false, known)
      model.catch(() => {})
    },
    remove,
    async dispose() {
      await model.then((last) => last.unload()).catch(() => {})
    },
  }
}

function unknownState(host: string, since: string, what: string): AgogeError {
  return new AgogeError(`What state the model on ${host} is in is unknown: a call broke off (${since}).`, {
    code: 'tinker-state-unknown',
    given: what,
    expected: 'a checkpoint to go on from',
    hint: 'Load the last checkpoint; on the command line: agoge train --resume FOLDER.',
  })
}

/** An optimiser step in the form of the protocol, which knows only AdamW. Agoge's own server also supports Muon. */
export function adamParams(step: OptimStep, extended: boolean, host: string): AdamParams {
  // JSON turns a non-finite number into null, which would select the server's default.
  checkOptimStep(step)
  const { learningRate, optimizer = 'adamw', beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8 } = step
  if (optimizer !== 'adamw' && !extended) {
    throw new AgogeError(`The Tinker server ${host} has no optimiser but AdamW.`, {
      code: 'unsupported-optimizer',
      given: optimizer,
      expected: 'adamw',
      hint: "Say optimizer: 'adamw' in the plan, with a learning rate that suits it.",
    })
  }
  return {
    learning_rate: learningRate,
    beta1,
    beta2,
    eps: epsilon,
    weight_decay: step.weightDecay ?? 0,
    grad_clip_norm: step.clip ?? 0,
    ...(optimizer === 'adamw' ? {} : { optimizer }),
  }
}

/** The gradient norm under any of the names that servers use; undefined if the server does not report it. */
export function gradientNorm(metrics: unknown): number | undefined {
  const entries = Object.entries((metrics ?? {}) as Record<string, unknown>)
  const named = entries.find(([name]) => /(^|\/)(unclipped_)?grad(ient)?_(norm|l2)(:\w+)?$/.test(name))
  return typeof named?.[1] === 'number' ? named[1] : undefined
}
