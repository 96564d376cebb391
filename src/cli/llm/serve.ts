import { basename, resolve, join } from 'node:path'
import { defined } from '../../defined.ts'
import { readChatFormat } from '../../llm/agent/chat-format/open-format.ts'
import type { ChatFormat } from '../../llm/agent/chat-format/types.ts'
import { AgogeError } from '../../error.ts'
import { loadModel } from '../../llm/backend/base-model.ts'
import type { SamplingWeights } from '../../llm/sampling/quantised-weights.ts'
import type { Tokenizer } from '../../llm/tokenizer/tokenizer.ts'
import { serveOpenAI } from '../../llm/serving/openai/serve.ts'
import type { Console } from '../shared/console.ts'
import { findModel } from './model-option.ts'
import { baseModelFolder } from '../../llm/checkpoint/checkpoint.ts'
import { createTinkerServer } from '../../llm/serving/tinker/server.ts'
import { describeError } from '../shared/console.ts'

export interface ServeCommand {
  model?: string
  host: string
  port: number
  key?: string
  name?: string
  samplingWeights?: SamplingWeights
}

/** The variable with the key, if no option gives it. */
const keyVariable = 'AGOGE_SERVE_KEY'

/** `agoge serve`: runs an OpenAI-compatible endpoint for a trained model, until it is interrupted. */
export async function runServe(command: ServeCommand, terminal: Console): Promise<void> {
  const { host, port, samplingWeights } = command
  const key = command.key ?? process.env[keyVariable]
  const { folder, given } = findModel(command.model)
  const { backend, tokenizer } = await loadModel(folder, { apart: true, ...defined({ samplingWeights }) })
  try {
    const format = await formatOf(folder, tokenizer, terminal)
    const name = command.name ?? basename(resolve(given))
    const { max_position_embeddings: window } = backend.config
    const served = await serveOpenAI({
      model: { name, backend, tokenizer, window, ...defined({ format }) },
      host,
      port,
      ...defined({ key }),
      onRequest: ({ method, path, status, seconds }) =>
        terminal.err(`${method} ${path} ${status} ${seconds.toFixed(2)} s`),
    })
    terminal.out(served.url)
    terminal.err(`model ${name} (${folder}), ${window} tokens of context; Ctrl-C ends`)
    if (format?.readsTools === false)
      terminal.err('it reads no definitions of tools: it knows those that it was trained with')
    await interrupted(terminal.signal)
    await served.close()
  } finally {
    await backend.dispose()
  }
}

/** A base model has no chat template; it completes texts. */
async function formatOf(
  folder: string,
  tokenizer: Tokenizer,
  { err }: Console,
): Promise<ChatFormat | undefined> {
  try {
    return await readChatFormat(folder, tokenizer)
  } catch (error) {
    if (!AgogeError.isInstance(error) || error.code !== 'no-chat-template') throw error
    err(`${error.message} Only /v1/completions will work.`)
    return undefined
  }
}

function interrupted(signal: AbortSignal): Promise<void> {
  return new Promise((resolvePromise) => {
    if (signal.aborted) resolvePromise()
    else signal.addEventListener('abort', () => resolvePromise(), { once: true })
  })
}

export interface ServeTinkerCommand {
  model?: string
  host: string
  port: number
  key?: string
  name?: string
  store?: string
  maxModels?: number
  samplingWeights?: SamplingWeights
}

/** `agoge serve --tinker`: lets clients of the Tinker protocol train a model, until it is interrupted. */
export async function runServeTinker(command: ServeTinkerCommand, terminal: Console): Promise<void> {
  const { host, port, maxModels, samplingWeights } = command
  if (samplingWeights !== undefined)
    throw new AgogeError('--tinker serves what it trains, in float32', {
      code: 'bad-option',
      given: `--tinker --sampling-weights ${samplingWeights}`,
      expected: '--tinker alone, or --sampling-weights without it',
    })
  const { signal } = terminal
  const key = command.key ?? process.env['AGOGE_SERVE_KEY']
  const folder = command.model === undefined ? baseModelFolder : findModel(command.model).folder
  const name = command.name ?? basename(resolve(command.model ?? folder))
  const store = resolve(command.store ?? join('.agoge', 'tinker'))
  const server = await createTinkerServer({
    models: { [name]: folder },
    store,
    host,
    port,
    ...(key === undefined || key === '' ? {} : { apiKey: key }),
    ...defined({ maxModels }),
    onFault: (error) => terminal.err(describeError(error, terminal.debug)),
  })
  terminal.out(server.url)
  terminal.err(`model ${name} (${folder}), checkpoints in ${store}; Ctrl-C ends`)
  terminal.err(`train on it: agoge train --backend tinker --tinker-url ${server.url}`)
  await new Promise<void>((done) => {
    if (signal.aborted) done()
    else signal.addEventListener('abort', () => done(), { once: true })
  })
  await server.close()
}
