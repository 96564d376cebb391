import { basename, dirname, resolve } from 'node:path'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { readChatFormat } from '../../llm/agent/chat-format/open-format.ts'
import { loadModel } from '../../llm/backend/base-model.ts'
import { encodeEpisode } from '../../llm/episode/codec.ts'
import { openGateway } from '../../llm/gateway/gateway.ts'
import { type GatewayModel, localGatewayModel } from '../../llm/gateway/local-model.ts'
import { openGatewayParts } from '../../llm/project/gateway-models.ts'
import { checkExposure } from '../../llm/serving/http.ts'
import { secretsOfEnvironment } from '../../llm/tool/redact.ts'
import { lockRun } from '../../runs/lock.ts'
import { openRunFolder } from '../../runs/run-folder.ts'
import type { Console } from '../shared/console.ts'
import { readConfig } from './eval-agent.ts'
import { findModel } from './model-option.ts'

export interface GatewayCommand {
  model?: string[]
  upstream?: string
  config?: string
  host: string
  port: number
  key?: string
  out?: string
  idle: number
  tokenIds?: boolean
}

/** `agoge gateway`: records the sessions of agents as episodes, until it is interrupted. */
export async function runGateway(command: GatewayCommand, terminal: Console): Promise<void> {
  const { model = [], upstream, config, host, port, out, idle, tokenIds } = command
  const { signal } = terminal
  if (model.length === 0 && upstream === undefined && config === undefined)
    throw badOption('nothing to stand in front of', '--model MODEL, --upstream URL or -c agoge.config.ts')
  if (upstream !== undefined && !/^https?:$/.test(URL.canParse(upstream) ? new URL(upstream).protocol : ''))
    throw badOption(upstream, '--upstream https://HOST/v1')
  if (tokenIds === true && upstream === undefined)
    throw badOption('--token-ids', '--upstream URL --token-ids')
  const key = command.key ?? process.env['AGOGE_SERVE_KEY']
  // Before a model is loaded and a folder is made.
  checkExposure(
    host,
    key,
    'needs-key',
    'Set one in the environment variable AGOGE_SERVE_KEY, or leave out --host.',
  )
  const stop = new AbortController()
  const opened: { models: GatewayModel[]; dispose: () => Promise<void> }[] = []
  try {
    for (const given of model) opened.push(await openLocal(given))
    const parts =
      config === undefined
        ? undefined
        : await openGatewayParts(await readConfig(config), dirname(resolve(config)), stop.signal)
    if (parts !== undefined) opened.push(parts)
    const models = opened.flatMap((one) => one.models)
    checkNames(models.map(({ name }) => name))
    const folder = openRunFolder(out === undefined ? { kind: 'gateway' } : { path: out })
    const release = lockRun(folder)
    let count = 0
    try {
      const gateway = await openGateway({
        models,
        host,
        port,
        idleSeconds: idle,
        secrets: secretsOfEnvironment(),
        ...defined({ upstream, tokenIds, key, score: parts?.score }),
        onEpisode(episode) {
          folder.append('episodes.jsonl', [encodeEpisode(episode)])
          count += 1
          const { id, status, success, samples, error } = episode
          const result = success === null ? status : `${status}, ${success ? 'success' : 'no success'}`
          terminal.err(`${id}: ${samples.length} calls, ${result}${error === undefined ? '' : `: ${error}`}`)
        },
        onNotice: (text) => terminal.err(text),
      })
      terminal.out(`${gateway.url}/v1`)
      const names = [...models.map(({ name }) => name), ...(upstream === undefined ? [] : [upstream])]
      terminal.err(`in front of ${names.join(', ')}; Ctrl-C ends`)
      terminal.err(`for Anthropic's client: ${gateway.url}`)
      await interrupted(signal)
      await gateway.close()
      terminal.err(`${count} episodes in ${folder.file('episodes.jsonl')}`)
    } finally {
      release()
    }
  } finally {
    stop.abort(new Error('the gateway was stopped'))
    for (const { dispose } of opened) await dispose()
  }
}

async function openLocal(given: string): Promise<{ models: GatewayModel[]; dispose: () => Promise<void> }> {
  const found = findModel(given)
  const { backend, tokenizer } = await loadModel(found.folder, { apart: true })
  const format = await readChatFormat(found.folder, tokenizer)
  const { max_position_embeddings: window } = backend.config
  const name = basename(resolve(found.given))
  return {
    models: [localGatewayModel({ name, backend, tokenizer, format, window })],
    dispose: () => backend.dispose(),
  }
}

function checkNames(names: readonly string[]): void {
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice === undefined) return
  throw new AgogeError(`two models are called "${twice}"`, {
    code: 'duplicate-model',
    given: twice,
    expected: 'models with different names',
  })
}

const badOption = (given: string, expected: string): AgogeError =>
  new AgogeError('the gateway cannot be opened with these options', { code: 'bad-option', given, expected })

function interrupted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done()
    else signal.addEventListener('abort', () => done(), { once: true })
  })
}
