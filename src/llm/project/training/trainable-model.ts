import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { defined } from '../../../defined.ts'
import { AgogeError } from '../../../error.ts'
import { createLanguageModel } from '../../agent/ai-sdk/language-model.ts'
import { readChatFormat, readWindow } from '../../agent/chat-format/open-format.ts'
import type { ChatFormat } from '../../agent/chat-format/types.ts'
import { loadModel, loadTokenizer } from '../../backend/base-model.ts'
import { createTinkerBackend, isAgogeServer } from '../../backend/tinker/tinker-backend.ts'
import { baseModelFolder } from '../../checkpoint/checkpoint.ts'
import { downloadModel, isHubName } from '../../checkpoint/hub.ts'
import type { Tokenizer } from '../../tokenizer/tokenizer.ts'
import type { TrainableBackend } from '../../training/types.ts'
import type { AgogeConfig } from '../config.ts'
import { findRun, isRun, type OpenedModel } from '../models.ts'

/** A model that is trained, in this process or on a server. */
export interface TrainableModel {
  /** How it was named. */
  name: string
  /** Where its files are: its weights, or of a model on a server only its tokenizer. */
  folder: string
  backend: TrainableBackend
  tokenizer: Tokenizer
  format: ChatFormat
  /** Context window in tokens. */
  window: number
  isLocal: boolean
  /** False if the server has AdamW only. */
  hasMuon: boolean
  /** Opens a second model for algorithms with a KL penalty. Absent for a local model, which is copied. */
  reference?: () => Promise<TrainableBackend>
}

/** Which model is trained, and where. */
export interface TrainableOptions {
  /**
   * A folder of a checkpoint or of a run, the name of a run in `.agoge/runs`, or `OWNER/NAME` of the hub, with `@REVISION` if not the main one. Default: the `run(...)` of the
   * config, if it has exactly one, else the base model of the package.
   */
  model?: string
  /** `local`, or `tinker:URL` for a server of the Tinker protocol; then only the tokenizer of `model` is read. Default: `local`. */
  backend?: 'local' | `tinker:${string}`
  /** Name of the model on the server. Default: its only model. */
  tinkerModel?: string
  /** Rank of an adapter that is trained instead of all weights. Default: none. */
  lora?: number
}

/**
 * Opens the model to be trained. Its owner disposes of the backend.
 *
 * @param root folder of the config, where folders are looked up.
 * @throws AgogeError `unknown-model` if it cannot be found.
 */
export async function openTrainable(
  { models }: Pick<AgogeConfig, 'models'>,
  { model, backend = 'local', tinkerModel, lora }: TrainableOptions,
  {
    root,
    seed,
    signal,
    onNote,
  }: { root: string; seed: number; signal?: AbortSignal; onNote: (text: string) => void },
): Promise<TrainableModel> {
  const runs = models.filter(isRun)
  const named = model ?? (runs.length === 1 ? runs[0].folder : undefined)
  const isLocal = backend === 'local'
  const folder =
    named === undefined
      ? baseModelFolder
      : await findTrainable(named, { root, isLocal, onNote, ...defined({ signal }) })
  const name = named === undefined ? 'base' : basename(named)
  if (isLocal) {
    const loaded = await loadModel(
      folder,
      lora === undefined ? {} : { trainable: { lora: { rank: lora, seed } } },
    )
    return {
      ...loaded,
      name,
      format: await readChatFormat(folder, loaded.tokenizer),
      window: loaded.backend.config.max_position_embeddings,
      isLocal,
      hasMuon: true,
    }
  }
  const baseUrl = backend.slice('tinker:'.length)
  const tokenizer = await loadTokenizer(folder)
  const context = { ...defined({ signal }) }
  const server = {
    baseUrl,
    tokenizer,
    seed,
    onTrouble: onNote,
    ...defined({ model: tinkerModel, loraRank: lora }),
  }
  const open = (): Promise<TrainableBackend> => createTinkerBackend(server, context)
  return {
    name: tinkerModel ?? name,
    folder,
    tokenizer,
    format: await readChatFormat(folder, tokenizer),
    window: readWindow(join(folder, 'config.json')),
    isLocal,
    hasMuon: await isAgogeServer({ baseUrl }, context),
    backend: await open(),
    reference: open,
  }
}

async function findTrainable(
  named: string,
  {
    root,
    isLocal,
    onNote,
    signal,
  }: { root: string; isLocal: boolean; onNote: (text: string) => void; signal?: AbortSignal },
): Promise<string> {
  const { found, places } = isLocal
    ? findRun(named, root)
    : findRun(named, root, (one) => existsSync(join(one, 'tokenizer.json')))
  if (found !== undefined) return found
  const [name, revision] = named.split('@')
  if (isHubName(name))
    return downloadModel(name, { weights: isLocal, onNote, ...defined({ revision, signal }) })
  throw new AgogeError(`there is no model in ${named}`, {
    code: 'unknown-model',
    given: places.join(', '),
    expected: isLocal
      ? 'the folder of a checkpoint or of a run, the name of a run in .agoge/runs, or OWNER/NAME of the hub'
      : 'a folder with the tokenizer of the model on the server',
  })
}

/** The model with its present weights, as evaluations call it. */
export function asOpenedModel(
  { backend, tokenizer, format, window, isLocal }: TrainableModel,
  name: string,
): OpenedModel {
  return {
    name,
    model: createLanguageModel({ backend, tokenizer, format, window, modelId: name }),
    isLocal: true,
    price: isLocal ? { input: 0, output: 0 } : undefined,
    dispose: () => Promise.resolve(),
  }
}
