import { defined } from '../../../defined.ts'
import { AgogeError } from '../../../error.ts'
import type { ModelBackend } from '../../model-backend.ts'
import type { Tokenizer } from '../../tokenizer/tokenizer.ts'
import type { Transport } from './transport.ts'

/** Ordinary sentences with few repeated words: a model that can read them prefers each next token over random ones. */
const text =
  'The harbour was quiet that morning. A young woman carried two baskets of apples up the narrow street, stopped in front of a bakery and asked how much one loaf would cost today.'

/** How far below uniform guessing, in nats, a model may score; covers models that have not learned anything yet. */
const tolerance = 0.5

/** Errors of a server that received an id which its model does not have. */
const refusals = ['tinker-refused', 'tinker-request-failed']

/**
 * Checks that a model on a server was trained with this tokenizer. The protocol does not name a model's tokenizer, and
 * wrong ids would silently mean other words. The check scores a text, which the right model predicts better than
 * uniform guessing and a wrong one far worse.
 *
 * @param where the model and its server, for the error.
 * @throws AgogeError `tinker-vocabulary` if the score is too low.
 */
export async function checkVocabulary(
  backend: Pick<ModelBackend, 'forward'>,
  tokenizer: Tokenizer,
  where: { model: string; host: string },
  options: { signal?: AbortSignal } = {},
): Promise<void> {
  const evenly = -Math.log(tokenizer.vocabularySize)
  let said: string
  let cause: unknown
  try {
    const [logprobs] = await backend.forward([tokenizer.encode(text)], options)
    const mean = logprobs.slice(1).reduce((sum, value) => sum + value, 0) / (logprobs.length - 1)
    if (mean >= evenly - tolerance) return
    said = `a mean log-probability of ${mean.toFixed(1)} a token of plain English, where guessing has ${evenly.toFixed(1)}`
  } catch (error) {
    if (!AgogeError.isInstance(error) || !refusals.includes(error.code)) throw error
    said = [error.message, error.given].filter((part) => typeof part === 'string').join(' ')
    cause = error
  }
  throw new AgogeError(`The model "${where.model}" of ${where.host} was trained with another tokenizer`, {
    code: 'tinker-vocabulary',
    given: `a tokenizer of ${tokenizer.vocabularySize} tokens: ${said}`,
    expected: `the tokenizer of "${where.model}"`,
    hint: `Pass a folder with the tokenizer.json, tokenizer_config.json and config.json of "${where.model}": --model FOLDER. Weights are not needed there. Or name the model that your tokenizer is of: --tinker-model NAME`,
    ...defined({ cause }),
  })
}

/** The name of the server's model, if it offers exactly one. */
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
