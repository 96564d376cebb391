import { defined } from '../../../defined.ts'
import { badField } from './reply.ts'

export type Json = Readonly<Record<string, unknown>>

export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A number between the bounds; undefined if it is missing or null. */
export function numberField(
  body: Json,
  name: string,
  {
    least = -Infinity,
    most = Infinity,
    whole = false,
  }: { least?: number; most?: number; whole?: boolean } = {},
): number | undefined {
  const value = body[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'number' || value < least || value > most || (whole && !Number.isSafeInteger(value))) {
    const kind = whole ? 'a whole number' : 'a number'
    const range = `${least === -Infinity ? '' : ` of at least ${least}`}${most === Infinity ? '' : ` and at most ${most}`}`
    throw badField(name, value, `${kind}${range}`)
  }
  return value
}

export function booleanField(body: Json, name: string): boolean {
  const value = body[name]
  if (value === undefined || value === null) return false
  if (typeof value !== 'boolean') throw badField(name, value, 'true or false')
  return value
}

/** Unsupported fields that would change the output. They are refused unless they have no effect. */
export function refuseFields(body: Json, names: readonly string[]): void {
  for (const name of names) {
    const value = body[name]
    const empty = isRecord(value) ? Object.keys(value).length === 0 : !value
    if (!empty) throw badField(name, value, 'nothing, for this server does not know the field')
  }
}

/** Sampling settings of a request, by their names in the protocol. */
export interface SamplingFields {
  maxTokens: number | undefined
  temperature: number
  topP?: number
  topK?: number
  minP?: number
  seed?: number
  /** Texts that end the output and are not part of it. */
  stop: string[]
  n: number
  stream: boolean
  includeUsage: boolean
  returnTokenIds: boolean
}

const unknown = ['frequency_penalty', 'presence_penalty', 'logit_bias', 'best_of', 'use_beam_search']

/** Parses the fields shared by chat and text completions. Ignores unknown fields that do not affect the output. */
export function readSampling(body: Json): SamplingFields {
  refuseFields(body, unknown)
  const { repetition_penalty: repetition } = body
  if (repetition !== undefined && repetition !== null && repetition !== 1)
    throw badField('repetition_penalty', repetition, '1 or nothing')
  const topP = numberField(body, 'top_p', { least: 0, most: 1 })
  if (topP === 0) throw badField('top_p', topP, 'a number above 0')
  const topK = numberField(body, 'top_k', { least: -1, whole: true })
  const minP = numberField(body, 'min_p', { least: 0, most: 1 })
  const seed = numberField(body, 'seed', { whole: true })
  const options = body['stream_options']
  return {
    maxTokens:
      numberField(body, 'max_completion_tokens', { least: 1, whole: true }) ??
      numberField(body, 'max_tokens', { least: 1, whole: true }),
    temperature: numberField(body, 'temperature', { least: 0, most: 100 }) ?? 1,
    ...defined({ topP }),
    ...(topK === undefined || topK < 1 ? {} : { topK }),
    ...defined({ minP, seed }),
    stop: readStop(body['stop']),
    n: numberField(body, 'n', { least: 1, most: 128, whole: true }) ?? 1,
    stream: booleanField(body, 'stream'),
    includeUsage:
      typeof options === 'object' &&
      options !== null &&
      'include_usage' in options &&
      options.include_usage === true,
    returnTokenIds: booleanField(body, 'return_token_ids'),
  }
}

const mostStops = 64
const longestStop = 1000

function readStop(value: unknown): string[] {
  if (value === undefined || value === null) return []
  const list = typeof value === 'string' ? [value] : value
  if (!Array.isArray(list) || list.some((text) => typeof text !== 'string' || text === ''))
    throw badField('stop', value, 'a text, or a list of texts, none of them empty')
  // Each stop text is searched after every token.
  if (list.length > mostStops || list.some((text: string) => text.length > longestStop))
    throw badField('stop', value, `at most ${mostStops} texts of at most ${longestStop} characters`)
  return list as string[]
}
