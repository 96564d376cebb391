import { defined } from '../../../defined.ts'
import type { Fields, Transport } from './transport.ts'
import { requestIdOf, retrieveFuture, type TinkerSession } from './session.ts'

export interface RemoteModelOptions {
  transport: Transport
  session: TinkerSession
  baseModel: string
  /** 0: all weights, which only Agoge's and SkyRL's servers train. */
  loraRank: number
  seed: number
  deadlineSeconds: number
}

/** What is to be done, and what is waiting for it. */
export interface RemoteRequest {
  path: string
  /** Without model and sequence id. */
  body: Fields
  what: string
  signal?: AbortSignal
}

/** A model on a server. Its requests are sent one after the other, in the order in which they were asked for. */
export interface RemoteModel {
  readonly id: string
  /** Sends a request and gives its result. The next one is sent as soon as this one is taken, not when it is done. */
  request(request: RemoteRequest): Promise<Fields>
  /** Tells the server that the model is needed no more; silent where it does not hear. */
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
    // The head stays out, as in `LoraOptions`.
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
        // Counted although it may be refused: whether a request that broke off was taken, nobody knows.
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
