import { defined } from '../../../defined.ts'
import type { Fields, Transport } from './transport.ts'
import { requestIdOf, retrieveFuture, type TinkerSession } from './session.ts'

export interface RemoteModelOptions {
  transport: Transport
  session: TinkerSession
  baseModel: string
  /** 0 = all weights, which only Agoge's and SkyRL's servers train. */
  loraRank: number
  seed: number
  deadlineSeconds: number
}

/** A queued request and its waiting caller. */
export interface RemoteRequest {
  path: string
  /** Without model id and sequence id. */
  body: Fields
  what: string
  signal?: AbortSignal
}

/** A model on a server. Requests are sent one after another in the order of the calls. */
export interface RemoteModel {
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
