import { AgogeError } from '../../../error.ts'
import type { OptimStep } from '../../model-backend.ts'
import { checkOptimStep } from '../../model/optimizer.ts'
import { badAnswerError, engineCodes } from './errors.ts'
import type { RemoteModel, RemoteRequest } from './remote-model.ts'
import type { Fields, Transport } from './transport.ts'
import type { AdamParams } from './wire.ts'

/** The model that is being trained on the server; another one takes its place with every load. */
interface RemoteTraining {
  /**
   * A request for the model. After one of which nobody knows whether it was carried out, what would build on it is refused: after a step of the
   * optimiser everything but `load`, after a training pass further passes and steps.
   */
  change(request: RemoteRequest): Promise<Fields>
  /** Says that a pass was broken off of which a part may be in the gradient: further passes and steps are refused. */
  halfDone(what: string): void
  /** Throws where it is unknown which weights the model has. */
  requireWeights(what: string): void
  /** Says that the weights are others than those that were saved last. */
  moved(): void
  /** Keeps weights and optimiser on the server; gives the path there. */
  save(name: string): Promise<string>
  load(path: string): Promise<void>
  /** Lets the optimiser begin anew, before whatever is asked for next; an error comes then. */
  resetOptimizer(name: string): void
  remove(path: string): Promise<void>
  dispose(): Promise<void>
}

/** What the server said no to, or failed at, has not changed the model. */
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

  /** The protocol loads only into a model that is new. What was saved for this alone is removed again. */
  function replace(
    source: (old: RemoteModel) => Promise<string>,
    optimizer: boolean,
    keptAt: string | undefined,
  ): Promise<RemoteModel> {
    const before = model
    // Of a model that could not be made there is nothing left to read.
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

/** A step in the words of the protocol, which knows AdamW only; Agoge's own server also takes Muon. */
export function adamParams(step: OptimStep, extended: boolean, host: string): AdamParams {
  // As JSON, what is no number would be null, and stand for the server's own value.
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

/** By whatever name the server tells it; undefined where it does not, which says nothing about the gradient. */
export function gradientNorm(metrics: unknown): number | undefined {
  const entries = Object.entries((metrics ?? {}) as Record<string, unknown>)
  const named = entries.find(([name]) => /(^|\/)(unclipped_)?grad(ient)?_(norm|l2)(:\w+)?$/.test(name))
  return typeof named?.[1] === 'number' ? named[1] : undefined
}
