import type { Answer, Reaction } from './exchange.ts'

/** What a right answer to a request is. */
export interface Expected {
  /** Statuses that are right. */
  status: readonly number[]
  /** What a refusal has to name. */
  names?: RegExp
  /** Node may refuse it itself, without a body, since it is no HTTP that a program could answer. */
  bare?: boolean
  /** The server may close the connection without an answer. */
  closed?: boolean
  /** What else is wrong with an answer that is none of an error. */
  check?: (answer: Answer) => string | undefined
}

/** How the errors of a protocol look. */
export interface ErrorForm {
  /** The text of an error and the field that it is about; undefined if it is in another form. */
  read: (body: unknown) => { text: string; field?: string | undefined } | undefined
}

export const openAiErrors: ErrorForm = {
  read(body) {
    const { error } = recordOf(body)
    const { message, type, param, code } = recordOf(error)
    if (typeof message !== 'string' || message === '' || typeof type !== 'string') return undefined
    if (typeof code !== 'string' || (param !== null && typeof param !== 'string')) return undefined
    return { text: `${message} ${code}`, field: param ?? undefined }
  },
}

export const tinkerErrors: ErrorForm = {
  read(body) {
    const { detail } = recordOf(body)
    return typeof detail === 'string' && detail !== '' ? { text: detail } : undefined
  },
}

export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Lines of a stack trace, and paths of the program's own files. */
const insides =
  /\n\s+at \S|\(node:internal|[/\\](?:dist|src|node_modules)[/\\]\S*\.[jt]s\b|chat_template\.jinja/
/** Longer errors say back what they were sent. */
const longestError = 4096

/** What is wrong with what a server did; undefined: nothing. */
export function problemOf(
  reaction: Reaction,
  expected: Expected,
  { form, secrets }: { form: ErrorForm; secrets: readonly string[] },
): string | undefined {
  if ('ended' in reaction) {
    if (expected.closed === true && reaction.ended !== 'nothing in time') return undefined
    return `no answer: ${reaction.ended}`
  }
  const { status, headers, body } = reaction
  const whole = `${JSON.stringify(headers)}\n${body}`
  if (secrets.some((secret) => whole.includes(secret))) return `it shows the key (${status})`
  if (insides.test(whole)) return `it shows its insides (${status}): ${shown(body)}`
  if (Object.keys(headers).some((name) => name.startsWith('access-control-')))
    return `it lets pages of other origins in (${status})`
  if (!expected.status.includes(status)) return `${status} ${shown(body)}`
  if (status < 400) return expected.check?.(reaction)
  if (expected.bare === true && body === '') return undefined
  if (body.length > longestError) return `an error of ${body.length} characters (${status})`
  const error = form.read(parsed(body))
  if (error === undefined) return `an error in another form (${status}): ${shown(body)}`
  const isNamed = expected.names?.test(`${error.field ?? ''} ${error.text}`) ?? true
  return isNamed ? undefined : `it does not name ${String(expected.names)} (${status}): ${shown(body)}`
}

const shown = (body: string): string => JSON.stringify(body.slice(0, 160))

export const refused = (names?: RegExp, ...status: number[]): Expected => ({
  status: status.length === 0 ? [400] : status,
  ...(names && { names }),
})

export const legal = (check?: Expected['check']): Expected => ({ status: [200], ...(check && { check }) })

/** Legal or not depends on the model, or the field is not looked at. It must not be a fault of the server. */
export const either = (names?: RegExp): Expected => ({ status: [200, 400], ...(names && { names }) })

/** Not HTTP: Node refuses it before the program sees it. */
export const noHttp = (...status: number[]): Expected => ({
  status: status.length === 0 ? [400] : status,
  bare: true,
})
