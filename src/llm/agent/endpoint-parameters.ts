/** Settings of sampling as they stand in a request, by their names in the protocol. */
export type SamplingParameters = Readonly<Record<string, number>>

/** What is asked of an endpoint, less what its model refuses. */
export interface EndpointParameters {
  /** What the next request says. */
  current(): SamplingParameters
  /**
   * Takes back what a refused request said too much of, for this and all later requests: the request is to be sent again. False where
   * the refusal names nothing that was `sent`.
   */
  concede(status: number, answer: string, sent: SamplingParameters): boolean
}

/** Longest part of a refusal that is looked at and quoted: some quote the request. */
const quoted = 500

/**
 * Models differ in what they let be chosen: reasoning models refuse a temperature, and call `max_tokens` by another name.
 *
 * @param notice told once of every parameter that is given up.
 */
export function createEndpointParameters(
  asked: SamplingParameters,
  notice: (text: string) => void,
): EndpointParameters {
  let current = asked
  return {
    current: () => current,
    concede(status, answer, sent) {
      if (status !== 400 && status !== 422) return false
      const words = refusalText(answer).slice(0, quoted)
      const refused = namedParameter(answer, words, Object.keys(sent))
      if (refused === undefined) return false
      // Of several requests at a time, the first to be refused speaks for all.
      if (!(refused in current)) return true
      const { [refused]: value, ...rest } = current
      const renamed = refused === 'max_tokens'
      current = renamed ? { ...rest, max_completion_tokens: value } : rest
      notice(
        `${renamed ? '"max_tokens" is sent as "max_completion_tokens"' : `"${refused}" is no longer sent`}, since the model refused it: ${words}`,
      )
      return true
    },
  }
}

/** The parameter that a refusal is about: the one that its fields name, else the first that its words do. */
function namedParameter(answer: string, words: string, sent: readonly string[]): string | undefined {
  const field = parameterField(parse(answer))
  if (field !== undefined) return sent.find((name) => name === field)
  const at = (name: string): number =>
    new RegExp(String.raw`(?<![\w-])${name}(?![\w-])`).exec(words)?.index ?? Infinity
  const [first] = sent.toSorted((a, b) => at(a) - at(b))
  return first !== undefined && at(first) < Infinity ? first : undefined
}

/** `error.param` as of OpenAI, `detail[0].loc` as of servers on FastAPI. */
function parameterField(answer: unknown): string | undefined {
  const named = member(member(answer, 'error'), 'param') ?? member(answer, 'param')
  if (typeof named === 'string') return named
  const detail = member(answer, 'detail')
  const location = member(Array.isArray(detail) ? detail[0] : undefined, 'loc')
  const last: unknown = Array.isArray(location) ? location.at(-1) : undefined
  return typeof last === 'string' ? last : undefined
}

function refusalText(answer: string): string {
  const body = parse(answer)
  const said = [
    member(member(body, 'error'), 'message'),
    member(body, 'message'),
    member(body, 'detail'),
    member(body, 'error'),
  ]
  return said.find((text) => typeof text === 'string') ?? answer
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
