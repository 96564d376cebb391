import { basename, join, resolve } from 'node:path'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { baseModelFolder } from '../../llm/checkpoint/checkpoint.ts'
import type { SamplingWeights } from '../../llm/sampling/quantised-weights.ts'
import { createTinkerServer } from '../../llm/serving/tinker/server.ts'
import type { Console } from '../shared/console.ts'
import { describeError } from '../shared/describe-error.ts'
import { findModel } from './model-option.ts'

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
