import { AgogeError } from '../../../error.ts'
import type { Transport } from './transport.ts'

/** The name of the model that a server offers, where it offers but one. */
export async function onlyModel(
  transport: Transport,
  patienceSeconds: number,
  signal?: AbortSignal,
): Promise<string> {
  const path = 'get_server_capabilities'
  const abort = signal === undefined ? {} : { signal }
  const { body } = await transport.call({ method: 'GET', path, patienceSeconds, ...abort })
  const models = (body as { supported_models?: { model_name?: unknown }[] } | null)?.supported_models
  const names = Array.isArray(models)
    ? models.flatMap(({ model_name: name }) => (typeof name === 'string' ? [name] : []))
    : []
  if (names.length === 1) return names[0]
  throw new AgogeError(`The Tinker server ${transport.host} offers ${names.length} models.`, {
    code: 'tinker-model',
    given: names.join(', '),
    expected: 'the name of one of them',
    hint: 'Name it: option `model`, or --tinker-model on the command line.',
  })
}
