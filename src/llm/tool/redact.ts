import { inspect } from 'node:util'
import { AgogeError } from '../../error.ts'
import { secretFinder } from '../../untrusted/find-secrets.ts'
import { received, type Redact, redactData, redactedBy, type Untrusted } from '../../untrusted/untrusted.ts'
import { InfrastructureError, type Toolbox, type ToolSpec } from './tool.ts'
import type { ListedTools, UnusableTool } from './mcp-results.ts'
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

/** Values of the environment that a message of a service might repeat. */
export function secretsOfEnvironment(): string[] {
  return Object.entries(process.env).flatMap(([name, value]) =>
    /KEY|TOKEN|SECRET|PASSWORD/i.test(name) && value !== undefined && value.length >= 8 ? [value] : [],
  )
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
 * Redacts every text in the tools of a server, page by page. A tool whose name would change becomes unusable, because the server
 * only knows the true name, and so does one that is listed again.
 */
export function redactTools(pages: readonly Untrusted<ListedTools>[], redact: Redact): ListedTools {
  const names = new Set<string>()
  const all = pages.map((page) =>
    redactedBy(page, ({ specs, unusable }) => {
      const left = redactData([...unusable], redact)
      const kept = specs.flatMap((spec) => {
        const isKnown = names.has(spec.name)
        names.add(spec.name)
        const read = redactTool(spec, isKnown, redact)
        if (!('reason' in read)) return [read]
        left.push(read)
        return []
      })
      return { specs: kept, unusable: left }
    }),
  )
  return { specs: all.flatMap(({ specs }) => specs), unusable: all.flatMap(({ unusable }) => unusable) }
}

function redactTool(spec: ToolSpec, isKnown: boolean, redact: Redact): ToolSpec | UnusableTool {
  const name = redact(spec.name)
  if (isKnown) return { name, reason: 'it is listed again; the first of that name counts' }
  if (name !== spec.name)
    return {
      name,
      reason: 'its name holds a configured value (env, headers or ${VAR}), which is hidden',
    }
  try {
    return redactData(spec, redact)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { name, reason: 'its definition is nested too deeply' }
  }
}

/** Returns the same error with redacted texts. The cause is dropped if it contains a secret. */
export function redactError(error: Error, redact: Redact): Error {
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

function isClean(value: unknown, redact: Redact): boolean {
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
      return redactTools([received({ specs: toolbox.specs, unusable: [] })], (text) => redactor.text(text))
        .specs
    },
    async call(name, args, options) {
      return redactor.data(await toolbox.call(name, args, options))
    },
  }
}
