import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { LanguageModel } from '../agent/ai-sdk/read-call.ts'
import { AgogeError } from '../../error.ts'
import type { AgentSetup } from './setup.ts'

/**
 * The trained models that a setup names, as model objects by name. A model is loaded at its first call, so a program that never calls it needs no
 * memory for it.
 *
 * @param given names of models that are there already.
 * @throws AgogeError `bad-setup` if a folder has no checkpoint.
 */
export function checkpointModels(
  { checkpoints = {} }: AgentSetup,
  given: readonly string[] = [],
): Record<string, LanguageModel> {
  return Object.fromEntries(
    Object.entries(checkpoints)
      .filter(([name]) => !given.includes(name))
      .map(([name, folder]) => [name, checkpointModel(name, folder)]),
  )
}

function checkpointModel(name: string, folder: string): LanguageModel {
  if (!existsSync(join(folder, 'config.json')))
    throw new AgogeError(`the setup names the checkpoint "${name}", which is not there`, {
      code: 'bad-setup',
      given: folder,
      expected: 'the folder of a checkpoint, relative to the file of the setup',
      hint: 'Copy the folder together with the setup',
    })
  let loading: Promise<LanguageModel> | undefined
  const loaded = (): Promise<LanguageModel> => (loading ??= load(name, folder))
  return {
    specificationVersion: 'v3',
    provider: 'agoge',
    modelId: name,
    supportedUrls: {},
    doGenerate: async (options) => (await loaded()).doGenerate(options),
    doStream: async (options) => (await loaded()).doStream(options),
  }
}

/** Loads only what is called: a setup without checkpoints needs no engine. */
async function load(name: string, folder: string): Promise<LanguageModel> {
  const [{ loadModel }, { readChatFormat }, { createLanguageModel }] = await Promise.all([
    import('../backend/base-model.ts'),
    import('../agent/chat-format/open-format.ts'),
    import('../agent/ai-sdk/language-model.ts'),
  ])
  const { backend, tokenizer } = await loadModel(folder)
  const format = await readChatFormat(folder, tokenizer)
  const window = backend.config.max_position_embeddings
  return createLanguageModel({ backend, tokenizer, format, window, modelId: name })
}
