import { setTimeout as sleep } from 'node:timers/promises'
import { defined } from '../../../defined.ts'
import { AgogeError } from '../../../error.ts'
import type { ModelBackend } from '../../model-backend.ts'
import type { Tokenizer } from '../../tokenizer/tokenizer.ts'
import { deadlineError, excerpt, failedError, refusedError } from './errors.ts'
import { createAnswerReader } from './transport.ts'
import type { Fields, Transport } from './transport.ts'

export interface TinkerSession {
  id: string
  /** Whether the server is Agoge's, see `AgogeExtension`. */
  extended: boolean
  /** Size limits of one request, from the server or the SDK's defaults. */
  chunk: { rows: number; bytes: number }
  /** Models of a session are numbered from 0. */
  nextModel(): number
  /** Samplers are numbered from 0 across all models. */
  nextSampler(): number
  close(): void
}

const heartbeatSeconds = 10

/** Opens a session and keeps it alive until it is closed. A server drops the models of sessions without heartbeat. */
export async function openSession(
  transport: Transport,
  patienceSeconds: number,
  signal?: AbortSignal,
): Promise<TinkerSession> {
  const abort = { patienceSeconds, ...defined({ signal }) }
  const config = await clientConfig(transport, abort)
  const path = 'create_session'
  const { body } = await transport.call({
    path,
    body: { type: 'create_session', tags: [], user_metadata: {}, sdk_version: 'agoge' },
    ...abort,
  })
  const read = createAnswerReader(transport.host, path)
  const id = read.text(read.fields(body, 'object'), 'session_id')
  const timer = setInterval(() => {
    // A lost heartbeat is ignored; the next request reports what is wrong.
    const beat = { path: 'session_heartbeat', body: { type: 'session_heartbeat', session_id: id } }
    transport.call({ ...beat, patienceSeconds: 0 }).catch(() => {})
  }, heartbeatSeconds * 1000)
  timer.unref()
  let models = 0
  let samplers = 0
  const size = (name: string, otherwise: number): number => {
    const value = config[name]
    return typeof value === 'number' && value > 0 ? value : otherwise
  }
  return {
    id,
    extended: isAgoge(config),
    chunk: {
      rows: size('fwdbwd_max_chunk_len', 1024),
      bytes: size('fwdbwd_max_chunk_bytes_count', 5_000_000),
    },
    nextModel: () => models++,
    nextSampler: () => samplers++,
    close: () => clearInterval(timer),
  }
}

const isAgoge = (config: Fields): boolean => typeof config['agoge'] === 'object' && config['agoge'] !== null

/** Whether a server's answer to `client/config` identifies it as Agoge's. */
export async function isAgogeConfig(
  transport: Transport,
  abort: { patienceSeconds: number; signal?: AbortSignal },
): Promise<boolean> {
  return isAgoge(await clientConfig(transport, abort))
}

/** Older servers do not know this call; the answer is then that there is no extension. */
async function clientConfig(
  transport: Transport,
  abort: { patienceSeconds: number; signal?: AbortSignal },
): Promise<Fields> {
  const body = { sdk_version: 'agoge' }
  const answer = await transport.call({ path: 'client/config', body, accept: [404, 405], ...abort })
  if (answer.status >= 400) return {}
  return createAnswerReader(transport.host, 'client/config').fields(answer.body, 'object')
}

interface Waiting {
  /** What is being done, for messages. */
  what: string
  signal?: AbortSignal
  deadlineSeconds: number
}

/**
 * Shortest and longest pause between polls in seconds, for servers that answer at once instead of holding the request.
 * It doubles.
 */
const leastPause = 0.02
const mostPause = 2

/**
 * Polls for the result of an accepted request until it is ready; 408 and `try_again` mean not yet.
 *
 * @throws AgogeError `tinker-request-failed` with the server's message, `tinker-not-found` if it no longer knows the
 * request, `tinker-deadline`; errors of the transport; the reason of the signal.
 */
export async function retrieveFuture(
  transport: Transport,
  requestId: string,
  { what, signal: given, deadlineSeconds }: Waiting,
): Promise<Fields> {
  const path = 'retrieve_future'
  const signal = given === undefined ? undefined : AbortSignal.any([given])
  const read = createAnswerReader(transport.host, path)
  const began = performance.now()
  const elapsed = (): number => (performance.now() - began) / 1000
  let pause = leastPause
  for (;;) {
    const asked = performance.now()
    const { status, body } = await transport.call({
      path,
      body: { request_id: requestId },
      accept: [400, 408],
      // A timeout does not end the wait, however long the work takes.
      patienceSeconds: Math.min(transport.patienceSeconds, Math.max(0, deadlineSeconds - elapsed())),
      ...defined({ signal }),
    })
    const fields = read.fields(body, 'object')
    if (status === 400) throw failedError(transport.host, what, excerpt(fields['detail'] ?? body))
    if (status !== 408 && fields['type'] !== 'try_again') {
      if (typeof fields['error'] === 'string' && fields['error'] !== '')
        throw failedError(transport.host, what, fields['error'], {
          category: String(fields['category']),
          code: codeOf(fields),
        })
      return fields
    }
    if (elapsed() > deadlineSeconds) throw deadlineError(transport.host, what, deadlineSeconds)
    pause = performance.now() - asked > 1000 ? leastPause : Math.min(mostPause, pause * 2)
    await sleep(pause * 1000, undefined, signal === undefined ? {} : { signal }).catch((error: unknown) => {
      throw signal?.aborted === true ? signal.reason : error
    })
  }
}

/** The error code of Agoge's own server; other servers have none. */
function codeOf(failed: Fields): string | undefined {
  const agoge = failed['agoge'] as Fields | null | undefined
  const code = agoge?.['code']
  return typeof code === 'string' ? code : undefined
}

/** The id under which a request was accepted. */
export function requestIdOf(transport: Transport, path: string, body: unknown): string {
  const read = createAnswerReader(transport.host, path)
  const fields = read.fields(body, 'object')
  if (typeof fields['error'] === 'string' && fields['error'] !== '')
    throw refusedError(transport.host, path, 200, fields['error'])
  return read.text(fields, 'request_id')
}

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
