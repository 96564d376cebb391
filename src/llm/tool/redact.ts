import { inspect } from 'node:util'
import { AgogeError } from '../../error.ts'
import { secretFinder } from '../../untrusted/find-secrets.ts'
import { InfrastructureError, type Toolbox, type ToolSpec } from './tool.ts'
import type { UnusableTool } from './mcp-results.ts'
import type { ServerConfig } from './server-config.ts'

export interface Redactor {
  /** Returns the text with every configured value replaced by `[redacted]`. */
  text(text: string): string
  /**
   * Returns a copy of plain data (objects, lists, strings, numbers) with every text redacted, keys included. A number that
   * is a secret becomes text. Other values are unchanged.
   */
  data<T>(value: T): T
}

const secretName = /key|token|secret|pass|auth|credential|cookie|session|private/i
const trivial = new Set([
  'true',
  'false',
  'null',
  'none',
  'info',
  'debug',
  'warn',
  'error',
  'auto',
  'test',
  'localhost',
])

/** Shortest value that is searched for. Shorter values occur everywhere by chance. */
const shortest = 4

/**
 * Whether a setting's value is specific enough to search for. A setting with a secret-like name always qualifies from
 * four characters on. For other settings, common words and small numbers do not, because redacting "debug" would damage
 * ordinary texts.
 */
function isParticular(name: string, value: string): boolean {
  if (value.length < shortest) return false
  if (secretName.test(name)) return !/^(?:true|false|null|none)$/i.test(value)
  return !trivial.has(value.toLowerCase()) && !/^[a-z]{1,11}$/i.test(value) && !/^\d{1,5}$/.test(value)
}

function secretsOf(config: ServerConfig): string[] {
  const found = (config.expanded ?? []).filter((value) => value.length >= shortest)
  const add = (name: string, value: string): void => {
    if (isParticular(name, value)) found.push(value)
  }
  if ('command' in config) {
    for (const [name, value] of Object.entries(config.env ?? {})) add(name, value)
    return found
  }
  add('auth', config.oauth?.clientSecret ?? '')
  for (const [name, value] of Object.entries(config.headers ?? {})) {
    const credential = /^\w+\s+(.+)$/.exec(value)?.[1]
    add(`auth ${name}`, value)
    // "Bearer TOKEN": the token may occur without its scheme.
    if (credential !== undefined) add(`auth ${name}`, credential)
  }
  if (URL.canParse(config.url)) {
    const url = new URL(config.url)
    add('password', decodeURIComponent(url.password))
    for (const [name, value] of url.searchParams) add(name, value)
  }
  return found
}

/**
 * Returns a redactor for the environment and header values of these configurations, and for values inserted by
 * `${VAR}`. It finds them in the encodings of `secretFinder`. Everything that is stored or shown passes through a redactor.
 */
export function createRedactor(configs: Iterable<ServerConfig>): Redactor {
  return redactorOf([...configs].flatMap(secretsOf))
}

/** Returns a redactor for these values, as `createRedactor` finds them. */
export function redactorOf(secrets: readonly string[]): Redactor {
  const find = secretFinder(secrets)

  function text(given: string): string {
    let redacted = ''
    let from = 0
    for (const [start, end] of find(given)) {
      redacted += `${given.slice(from, start)}[redacted]`
      from = end
    }
    return redacted + given.slice(from)
  }

  return { text, data: (value) => redactData(value, text) }
}

/**
 * Returns a copy of plain data with `redact` applied to every string, keys included. A number that it would change becomes
 * text. Other values are unchanged.
 */
export function redactData<T>(given: T, redact: (text: string) => string): T {
  function copy(value: unknown): unknown {
    if (typeof value === 'string') return redact(value)
    if (typeof value === 'number') {
      const redacted = redact(String(value))
      return redacted === String(value) ? value : redacted
    }
    if (Array.isArray(value)) return value.map(copy)
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [redact(key), copy(item)]))
  }
  return copy(given) as T
}

/**
 * Redacts every text in the tools of a server. A tool whose name would change becomes unusable, because the server only
 * knows the true name.
 */
export function redactTools(
  { specs, unusable }: { specs: readonly ToolSpec[]; unusable: readonly UnusableTool[] },
  redact: (text: string) => string,
): { specs: ToolSpec[]; unusable: UnusableTool[] } {
  const kept: ToolSpec[] = []
  const left: UnusableTool[] = redactData([...unusable], redact)
  for (const spec of specs) {
    const name = redact(spec.name)
    if (name !== spec.name) {
      left.push({
        name,
        reason: 'its name holds a configured value (env, headers or ${VAR}), which is hidden',
      })
      continue
    }
    try {
      kept.push(redactData(spec, redact))
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      left.push({ name, reason: 'its definition is nested too deeply' })
    }
  }
  return { specs: kept, unusable: left }
}

/** Returns the same error with redacted texts. The cause is dropped if it contains a secret. */
export function redactError(error: Error, redact: (text: string) => string): Error {
  if (isClean(error, redact)) return error
  const cause = isClean(error.cause, redact) ? { cause: error.cause } : {}
  const hint = 'hint' in error && typeof error.hint === 'string' ? { hint: redact(error.hint) } : {}
  if (!AgogeError.isInstance(error))
    return new InfrastructureError(redact(error.message), { ...hint, ...cause })
  const { code, given, expected } = error
  return new AgogeError(redact(error.message), {
    code,
    ...(given === undefined ? {} : { given: redactData(given, redact) }),
    ...(expected === undefined ? {} : { expected: redact(expected) }),
    ...hint,
    ...cause,
  })
}

function isClean(value: unknown, redact: (text: string) => string): boolean {
  const text = inspect(value, { depth: 8, breakLength: Infinity })
  return redact(text) === text
}

/**
 * Wraps a toolbox so that its tools and results are redacted before the policy sees them. Text in the context window
 * becomes tokens, and tokens are stored. Tools whose name contains a secret are left out.
 */
export function redactToolbox(toolbox: Toolbox, redactor: Redactor): Toolbox {
  return {
    get specs() {
      return redactTools({ specs: toolbox.specs, unusable: [] }, (text) => redactor.text(text)).specs
    },
    async call(name, args, options) {
      return redactor.data(await toolbox.call(name, args, options))
    },
  }
}
