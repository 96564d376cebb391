import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { defined } from '../../../defined.ts'
import { requireModel } from '../../backend/base-model.ts'
import { createLocalBackend, type LocalBackend } from '../../backend/local-backend.ts'
import { readCheckpoint } from '../../checkpoint/checkpoint.ts'
import type { TransformerConfig } from '../../model/config.ts'
import { ownTurn } from '../turns.ts'
import { refuse } from './fields.ts'
import type { LiveModel } from './sampling.ts'

/** A base model that clients can start from. */
export interface BaseModel {
  name: string
  folder: string
  config: TransformerConfig
}

/** The LoRA settings of `lora_config`; `undefined` trains all weights. */
interface LoraWish {
  rank: number
  seed: number
  trainAttention: boolean
  trainMlp: boolean
  trainUnembedding: boolean
}

export interface BaseModels {
  readonly list: readonly BaseModel[]
  /** Throws `tinker-not-found` for a model that is not served. */
  find(name: string): BaseModel
  /** A new copy of the model, for training or sampling. */
  open(model: BaseModel, lora?: LoraWish): Promise<LocalBackend>
}

/** Reads the served models once, so that a folder without a model fails before the server starts. */
export async function openBaseModels(
  folders: Readonly<Record<string, string>>,
  threads: number | undefined,
): Promise<BaseModels> {
  const list = await Promise.all(
    Object.entries(folders).map(async ([name, given]): Promise<BaseModel> => {
      const folder = resolve(requireModel(given))
      return { name, folder, config: (await readCheckpoint(folder)).config }
    }),
  )
  return {
    list,
    find(name) {
      const found = list.find((model) => model.name === name)
      if (found !== undefined) return found
      const expected = list.map((model) => model.name).join(', ')
      throw refuse('tinker-not-found', 'There is no such base model here', { given: name, expected })
    },
    async open({ folder }, lora) {
      const { config, parameters, tokenizer, companions } = await readCheckpoint(folder)
      // Reading it has taken this turn long enough.
      await ownTurn()
      return createLocalBackend({
        config,
        parameters,
        apart: true,
        ...defined({ tokenizer, companions, threads }),
        ...(lora === undefined ? {} : { trainable: { lora: loraOptions(lora, config) } }),
      })
    },
  }
}

function loraOptions({ rank, seed, ...wish }: LoraWish, config: TransformerConfig) {
  const targets = [
    ...(wish.trainAttention ? ['q_proj', 'k_proj', 'v_proj', 'o_proj'] : []),
    ...(wish.trainMlp ? ['gate_proj', 'up_proj', 'down_proj'] : []),
    // An output layer tied to the embedding has no weights of its own to adapt.
    ...(wish.trainUnembedding && !config.tie_word_embeddings ? ['lm_head'] : []),
  ]
  return { rank, seed, targets }
}

/** Where a client can load the tokenizer from, if the model has one. */
export function tokenizerId({ folder }: BaseModel): string | undefined {
  return existsSync(join(folder, 'tokenizer.json')) ? folder : undefined
}

/** A model that a client trains. */
export interface ServedModel extends LiveModel {
  id: string
  session: string
  baseModel: BaseModel
  lora: LoraWish | undefined
  backend: LocalBackend
  made: string
  lastRequest: number
  /** Requests by number, so that a repeated request is executed once. */
  requests: Map<number, { digest: string; requestId: string }>
}

export interface ServedModels {
  readonly list: readonly ServedModel[]
  /** Throws `tinker-not-found`. */
  find(id: string): ServedModel
  open(fields: {
    id: string
    session: string
    baseModel: BaseModel
    lora: LoraWish | undefined
  }): Promise<ServedModel>
  close(model: ServedModel): Promise<void>
  dispose(): Promise<void>
}

/**
 * A bounded number of models in memory. To make space, removes the model that was idle longest, if its session is no longer
 * alive.
 */
export function createServedModels(
  base: BaseModels,
  {
    most,
    isGone,
    onClose,
  }: { most: number; isGone: (session: string) => boolean; onClose: (model: ServedModel) => void },
): ServedModels {
  const models = new Map<string, ServedModel>()

  async function close(model: ServedModel): Promise<void> {
    if (!models.delete(model.id)) return
    onClose(model)
    await model.backend.dispose()
  }

  return {
    get list() {
      return [...models.values()]
    },
    find(id) {
      const found = models.get(id)
      if (found !== undefined) {
        found.lastRequest = performance.now()
        return found
      }
      throw refuse('tinker-not-found', 'There is no such model', {
        given: id,
        hint: 'The server may have been restarted, or have let go of it: make a model and load the last checkpoint.',
      })
    },
    async open({ id, session, baseModel, lora }) {
      const gone = [...models.values()]
        .filter((model) => isGone(model.session))
        .sort((a, b) => a.lastRequest - b.lastRequest)
      if (models.size >= most && gone.length > 0) await close(gone[0])
      if (models.size >= most) {
        throw refuse(
          'tinker-too-many-models',
          `There are ${models.size} models in memory, all of clients that are there`,
          {
            expected: `at most ${most}`,
            hint: 'Unload one, or start the server with a larger --max-models.',
          },
        )
      }
      const backend = await base.open(baseModel, lora)
      const made = new Date().toISOString()
      const lastRequest = performance.now()
      const model = {
        id,
        session,
        baseModel,
        lora,
        backend,
        made,
        lastRequest,
        requests: new Map<number, never>(),
      }
      models.set(id, model)
      return model
    },
    close,
    async dispose() {
      await Promise.all([...models.values()].map(close))
    },
  }
}
