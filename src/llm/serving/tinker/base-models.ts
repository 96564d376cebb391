import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createLocalBackend } from '../../backend/local-backend.ts'
import { readCheckpoint } from '../../checkpoint/checkpoint.ts'
import { requireModel } from '../../backend/base-model.ts'
import type { LocalBackend } from '../../backend/local-backend.ts'
import type { TransformerConfig } from '../../model/config.ts'
import { refuse } from './refusal.ts'

/** A model that clients can begin from. */
export interface BaseModel {
  name: string
  folder: string
  config: TransformerConfig
}

/** What `lora_config` asks for; `undefined` trains all weights. */
export interface LoraWish {
  rank: number
  seed: number
  trainAttention: boolean
  trainMlp: boolean
  trainUnembedding: boolean
}

export interface BaseModels {
  readonly list: readonly BaseModel[]
  /** Throws `tinker-not-found` for a name that is not served. */
  find(name: string): BaseModel
  /** A fresh copy of the model, to be trained or sampled from. */
  open(model: BaseModel, lora?: LoraWish): Promise<LocalBackend>
}

/** Reads what is served once, so that a folder that does not hold a model is told before the server starts. */
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
      return createLocalBackend({
        config,
        parameters,
        ...(tokenizer === undefined ? {} : { tokenizer }),
        ...(companions === undefined ? {} : { companions }),
        ...(threads === undefined ? {} : { threads }),
        ...(lora === undefined ? {} : { trainable: { lora: loraOptions(lora, config) } }),
      })
    },
  }
}

function loraOptions({ rank, seed, ...wish }: LoraWish, config: TransformerConfig) {
  const targets = [
    ...(wish.trainAttention ? ['q_proj', 'k_proj', 'v_proj', 'o_proj'] : []),
    ...(wish.trainMlp ? ['gate_proj', 'up_proj', 'down_proj'] : []),
    // A head that is the embedding has no weights of its own to adapt.
    ...(wish.trainUnembedding && !config.tie_word_embeddings ? ['lm_head'] : []),
  ]
  return { rank, seed, targets }
}

/** What a client can load the tokenizer from, where the model has one. */
export function tokenizerId({ folder }: BaseModel): string | undefined {
  return existsSync(join(folder, 'tokenizer.json')) ? folder : undefined
}
