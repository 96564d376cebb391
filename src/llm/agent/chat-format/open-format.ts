import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { defined } from '../../../defined.ts'
import { readForeignFile, readForeignObject } from '../../../untrusted/foreign-file.ts'
import { readChatTemplate } from '../../tokenizer/chat-template.ts'
import { AgogeError } from '../../../error.ts'
import { verifyChecksums } from '../../../runs/checksums.ts'
import { tokenizerFromJson } from '../../tokenizer/tokenizer-json.ts'
import { createTokenizer } from '../../tokenizer/tokenizer.ts'
import type { Tokenizer } from '../../tokenizer/tokenizer.ts'
import { createSmallFormat } from './small-format.ts'
import { createTemplateFormat } from './template-format.ts'
import type { ChatFormat } from './types.ts'

/** True for tokenizers of Agoge's own models, which need no template. */
export function isSmallTokenizer(tokenizer: Tokenizer): boolean {
  return tokenizer.model.specialTokens.includes('<|call|>')
}

/**
 * The format of the model in a folder: that of Agoge's own models, or else the folder's chat template.
 *
 * @throws AgogeError `no-chat-template` if a public checkpoint has none, as with base models.
 * @example
 * const { folder, tokenizer } = await loadModel()
 * const format = await readChatFormat(folder, tokenizer)
 */
export async function readChatFormat(
  folder: string,
  tokenizer: Tokenizer,
  variables?: Readonly<Record<string, unknown>>,
): Promise<ChatFormat> {
  if (isSmallTokenizer(tokenizer))
    return createSmallFormat(tokenizer, { toolTokens: await readToolTokens(folder) })
  const template = await readChatTemplate(folder)
  const stop = stopIds(folder)
  return createTemplateFormat({
    template,
    tokenizer,
    stop,
    ...defined({ variables }),
  })
}

const smallOptions = 'tokenizer_config.json'

/** The file by which a model of Agoge's own states that it reads tool definitions. Checkpoints keep it. */
export function smallFormatFiles({ toolTokens }: { toolTokens: number }): Record<string, string> {
  return { [smallOptions]: `${JSON.stringify({ agoge: { toolTokens } })}\n` }
}

/** Most tokens of the tool definitions in a prompt of one of Agoge's own models; 0 if it was trained without. */
async function readToolTokens(folder: string): Promise<number> {
  const file = join(folder, smallOptions)
  if (!existsSync(file)) return 0
  const { agoge } = readJson(file) as { agoge?: { toolTokens?: unknown } }
  const { toolTokens = 0 } = agoge ?? {}
  if (typeof toolTokens === 'number' && Number.isInteger(toolTokens) && toolTokens >= 0) return toolTokens
  throw new AgogeError(`${file}: agoge.toolTokens cannot be used`, {
    code: 'bad-checkpoint',
    given: toolTokens,
    expected: 'a whole number of tokens, 0 or more',
  })
}

/** A model with a chat format of its own: a public checkpoint, or one of Agoge's that reads tool definitions. */
export interface ChatModel {
  format: ChatFormat
  /** Context window in tokens. */
  window: number
}

/**
 * The chat format and window of the model in a folder; undefined for Agoge's own models that do not read tool definitions.
 * Reads no weights.
 */
export async function readChatModel(folder: string): Promise<ChatModel | undefined> {
  const texts = join(folder, 'tokenizer.json')
  // Loading the model reports missing files.
  if (!existsSync(texts)) return undefined
  await verifyChecksums(
    folder,
    (name) => name.endsWith('.jinja') || /(?:config|tokenizer|map)\.json$/.test(name),
  )
  const tokenizer = createTokenizer(readForeignFile(texts, (text) => tokenizerFromJson(text, texts)))
  if (isSmallTokenizer(tokenizer) && (await readToolTokens(folder)) === 0) return undefined
  const file = join(folder, 'config.json')
  return { format: await readChatFormat(folder, tokenizer), window: readWindow(file) }
}

/** The context window in a `config.json`. Accepts any architecture: a model on a server need not run on this engine. */
export function readWindow(file: string): number {
  if (!existsSync(file))
    throw new AgogeError(`There is no ${file}.`, {
      code: 'bad-checkpoint',
      expected: 'the config.json of the model, with its "max_position_embeddings"',
    })
  const config = readJson(file) as {
    max_position_embeddings?: unknown
    text_config?: { max_position_embeddings?: unknown }
  }
  const window = config.max_position_embeddings ?? config.text_config?.max_position_embeddings
  if (typeof window === 'number' && Number.isInteger(window) && window > 0) return window
  throw new AgogeError(`${file} does not contain the context window of the model.`, {
    code: 'bad-checkpoint',
    given: window ?? 'nothing',
    expected: '"max_position_embeddings", a whole number',
  })
}

/** `eos_token_id` of the generation config, or else of the model config. */
function stopIds(folder: string): number[] {
  for (const name of ['generation_config.json', 'config.json']) {
    const file = join(folder, name)
    if (!existsSync(file)) continue
    const { eos_token_id: ids } = readJson(file)
    const list = (Array.isArray(ids) ? ids : [ids]).filter((id) => Number.isInteger(id)) as number[]
    if (list.length > 0) return list
  }
  return []
}

const readJson = (file: string): Readonly<Record<string, unknown>> =>
  readForeignObject(file, 'bad-checkpoint')
