import { setTimeout as sleep } from 'node:timers/promises'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import {
  AnswerTooLong,
  checked,
  hidingKey,
  parsed,
  type Redact,
  receivedText,
  redacted,
  type Untrusted,
} from '../../untrusted/untrusted.ts'
import { isPassing, retryAfter, saysTooLong } from './call-failures.ts'
import { inParallel } from '../in-parallel.ts'
import {
  type Completion,
  type CompletionUsage,
  createEndpointParameters,
  readCompletion,
  toFunctionTools,
  toMessages,
} from './chat-completions.ts'
import type { Act, Actor, ActRequest } from './types.ts'

export interface OpenAIActorOptions {
  /** Base address including the version, e.g. `http://127.0.0.1:8080/v1`. */
  baseUrl: string
  model: string
  /** The API key. Default: the environment variable `apiKeyVariable` (default: OPENAI_API_KEY). Local servers need none. */
  apiKey?: string
  apiKeyVariable?: string
  /**
   * Sampling settings to send. The endpoint's defaults apply to the others. A setting that the model refuses is dropped; see
   * `onNotice`.
   */
  temperature?: number
  topP?: number
  /** Maximum tokens per turn. */
  maxTokensPerTurn?: number
  seed?: number
  /** Called once for each setting that the model refused and that is no longer sent. */
  onNotice?: (text: string) => void
  /** Concurrent requests. Default: 8. */
  concurrency?: number
  /** Retries after the first attempt. Default: 4. */
  retries?: number
  /** Time limit of one attempt in seconds. Default: 120. */
  timeoutSeconds?: number
  /** Pause before the first retry in seconds; it doubles each time. Default: 0.5. A `Retry-After` of up to a minute is honoured. */
  backoffSeconds?: number
  /** Additional headers, e.g. for a gateway. */
  headers?: Record<string, string>
  /**
   * Called before each attempt with the body that is about to be sent, for example to hold a limit of tokens. If it rejects,
   * nothing is sent or tried again, and the act is that error. The function that it returns is called when the attempt is over,
   * with the tokens that the endpoint counted, or undefined if that is not known.
   */
  beforeAttempt?: (sent: string) => Promise<(used: CompletionUsage | undefined) => void>
}

const unused: CompletionUsage = { promptTokens: 0, sampledTokens: 0 }
const empty = { tokens: new Int32Array(0), logprobs: new Float32Array(0), mask: new Uint8Array(0) }

/**
 * An actor for any OpenAI-compatible `chat/completions` endpoint. It acts like a local policy but returns no token ids, so it
 * cannot be trained. If the endpoint fails after all retries, the act is an infrastructure fault. If the conversation exceeds
 * the model's context window, the episode ends as a failure.
 *
 * @throws AgogeError (in `act`) for permanent errors: wrong key, unknown model, invalid request.
 * @example
 * const actor = createOpenAIActor({ baseUrl: 'http://127.0.0.1:8080/v1', model: 'qwen3-8b' })
 */
export function createOpenAIActor(options: OpenAIActorOptions): Actor {
  const endpoint = endpointUrl(options.baseUrl)
  const key = options.apiKey ?? process.env[options.apiKeyVariable ?? 'OPENAI_API_KEY']
  const conceal = hidingKey(key)
  const { temperature, topP, maxTokensPerTurn, seed, onNotice = () => {} } = options
  const parameters = createEndpointParameters(
    {
      ...defined({ temperature, top_p: topP, max_tokens: maxTokensPerTurn, seed }),
    },
    (text) => onNotice(`${options.model}: ${conceal(text)}`),
  )

  async function actOnce(request: ActRequest, signal: AbortSignal | undefined): Promise<Act> {
    const body = {
      model: options.model,
      messages: toMessages(request.nodes),
      ...(request.tools.length === 0 ? {} : { tools: toFunctionTools(request.tools) }),
    }
    const goesOn = request.nodes.some(({ role }) => role === 'assistant')
    const completion = await post(body, signal, goesOn)
    const { text, calls, invalid, finish, promptTokens, sampledTokens } = completion
    return {
      text,
      calls: calls.map((call, i) => ({ id: `${request.turn}.${i}`, ...call })),
      ...defined({ invalid }),
      finish,
      ...empty,
      weightVersion: 0,
      promptTokens,
      sampledTokens,
    }
  }

  /** `goesOn`: the conversation may have outgrown the window. A first message that does not fit is a mistake in the settings. */
  async function post(body: object, signal: AbortSignal | undefined, goesOn: boolean): Promise<Completion> {
    const attempts = 1 + (options.retries ?? 4)
    let last: Error | undefined
    for (let attempt = 0; attempt < attempts; attempt++) {
      let wait = (options.backoffSeconds ?? 0.5) * 2 ** attempt
      const sent = parameters.current()
      const text = JSON.stringify({ ...body, ...sent })
      const settle = await options.beforeAttempt?.(text)
      const timeout = deadline(options.timeoutSeconds ?? 120)
      let used: CompletionUsage | undefined
      try {
        const response = await fetch(endpoint, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            ...(key === undefined || key === '' ? {} : { authorization: `Bearer ${key}` }),
            ...options.headers,
          },
          body: text,
          // A redirect would turn the POST into a GET without a body, and drop the key on the way to another host.
          redirect: 'manual',
          signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
        })
        const received = await receivedText(response, mostBytes)
        if (response.status >= 300 && response.status < 400) throw moved(response)
        const answer = redacted(received, conceal)
        const completion = response.ok ? completionOf(received, conceal) : undefined
        if (!response.ok) used = unused
        else if (completion !== undefined && completion.promptTokens > 0) used = completion
        if (completion !== undefined) return completion
        const said = answer.slice(0, 500)
        const isTooLong = !response.ok && saysTooLong(response.status, answer)
        if (isTooLong && goesOn) return outgrown
        if (!isTooLong && parameters.concede(response.status, answer, sent)) {
          // The endpoint was fine: this does not count as an attempt.
          attempt--
          continue
        }
        if (!response.ok && !isPassing(response.status)) throw refusal(response.status, said, isTooLong)
        // Some gateways report errors with status 200.
        const what = response.ok ? 'with no chat completion' : response.status
        last = new Error(`${endpoint.host} answered ${what}: ${said}`)
        wait = retryAfter(response.headers.get('retry-after')) ?? wait
      } catch (error) {
        signal?.throwIfAborted()
        if (AgogeError.isInstance(error)) throw error
        // The next answer would be as long, and be paid for too.
        if (error instanceof AnswerTooLong)
          throw new Error(`${endpoint.host}: ${error.message}`, { cause: error })
        last = timeout.aborted
          ? new Error(`${endpoint.host} gave no answer in ${options.timeoutSeconds ?? 120} s`)
          : networkError(endpoint, error)
      } finally {
        settle?.(used)
      }
      if (attempt + 1 < attempts) await sleep(wait * 1000, undefined, signal === undefined ? {} : { signal })
    }
    throw last as Error
  }

  function moved(response: Response): AgogeError {
    const location = response.headers.get('location') ?? ''
    const target = URL.canParse(location, endpoint.href) ? new URL(location, endpoint) : undefined
    return new AgogeError(
      `The model endpoint at ${endpoint.host} sends requests on to another address (HTTP ${response.status}).`,
      {
        code: 'model-endpoint-refused',
        given: addressOf(endpoint),
        expected: 'an address without redirects: requests with a key are not forwarded',
        ...(target === undefined
          ? {}
          : {
              hint: `If you mean that one, name it: ${addressOf(target).replace(/\/chat\/completions\/*$/, '')}`,
            }),
      },
    )
  }

  function refusal(status: number, said: string, isTooLong: boolean): AgogeError {
    const variable = options.apiKeyVariable ?? 'OPENAI_API_KEY'
    return new AgogeError(
      `The model "${options.model}" at ${endpoint.host} refused the request (HTTP ${status}).`,
      {
        code: 'model-endpoint-refused',
        given: said,
        hint: isTooLong
          ? 'The first message and the longest answer do not fit into its window: ask for fewer tokens a turn, show fewer tools, or serve it with a larger one.'
          : status === 401 || status === 403
            ? `Set the key in the environment variable ${variable}${key === undefined ? ', which is not set' : ''}.`
            : `Check the address (${addressOf(endpoint)}), the name of the model and whether it takes tools.`,
      },
    )
  }

  return {
    name: options.model,
    // Default sampling parameters of the protocol.
    sampling: { temperature: temperature ?? 1, ...defined({ topP }) },
    encode: () => empty.tokens,
    async act(requests, { signal }) {
      const acts: (Act | Error)[] = Array.from({ length: requests.length })
      await inParallel([...requests.keys()], options.concurrency ?? 8, async (i) => {
        try {
          acts[i] = await actOnce(requests[i], signal)
        } catch (error) {
          if (AgogeError.isInstance(error)) throw error
          acts[i] = error instanceof Error ? error : new Error(String(error))
        }
      })
      return acts
    },
  }
}

/**
 * The address for chat completions, from the base of an endpoint or the whole address. Keeps a query.
 *
 * @throws AgogeError if it is not an http address, or contains a user name or password.
 */
export function endpointUrl(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new AgogeError(`"${baseUrl}" is not the address of a model endpoint.`, {
      code: 'bad-model-url',
      given: baseUrl,
      expected: 'an http or https address, e.g. http://127.0.0.1:8080/v1',
    })
  }
  if (url.username !== '' || url.password !== '') {
    throw new AgogeError('The address of a model endpoint contains a user name or password.', {
      code: 'bad-model-url',
      given: `an address at ${url.host}`,
      expected: 'an address alone; the key comes from the environment',
    })
  }
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = path.endsWith('/chat/completions') ? path : `${path}/chat/completions`
  return url
}

/** The address for messages. Drops the query, since some gateways take their key there. */
const addressOf = ({ origin, pathname }: URL): string => `${origin}${pathname}`

/** Timers take whole milliseconds of at most 31 bits (25 days). */
function deadline(seconds: number): AbortSignal {
  return AbortSignal.timeout(Math.min(Math.ceil(seconds * 1000), 2 ** 31 - 1))
}

/** Longest answer that is read. */
const mostBytes = 64 * 2 ** 20

function completionOf(answer: Untrusted<string>, conceal: Redact): Completion | undefined {
  try {
    return redacted(checked(parsed(answer), readCompletion), conceal)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The act of an episode whose conversation exceeds the context window. The episode ends as a failure. */
const outgrown: Completion = { text: '', calls: [], finish: 'length', promptTokens: 0, sampledTokens: 0 }

function networkError(endpoint: URL, error: unknown): Error {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const text = cause instanceof Error ? cause.message : String(cause)
  return new Error(`${endpoint.host} could not be reached: ${text}`, { cause: error })
}
