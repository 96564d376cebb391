import type { ServerConfig } from './server-config.ts'
import type { Toolbox } from './types.ts'

export interface Redactor {
  /** The text with every configured value replaced by `[redacted]`. */
  text(text: string): string
  /** A copy of plain data (objects, lists, strings) with every string, keys included, redacted; all else as it is. */
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

/** Characters of a value that is searched for: anything shorter would be found everywhere. */
const shortest = 4

/**
 * Is the value of a setting particular enough to be searched for? What is named like a secret always is, from four
 * characters on; otherwise common words and small numbers are not, or every text with "debug" in it would be mangled.
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
  for (const [name, value] of Object.entries(config.headers ?? {})) {
    const credential = /^\w+\s+(.+)$/.exec(value)?.[1]
    add(`auth ${name}`, value)
    // "Bearer TOKEN": the token may turn up without its scheme.
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
 * Replaces configured environment and header values wherever they occur, also inside JSON and addresses, and whatever came into a
 * configuration by `${VAR}`. Everything that is stored or shown passes through one of these.
 */
export function createRedactor(configs: Iterable<ServerConfig>): Redactor {
  const forms = new Set<string>()
  for (const config of configs) {
    for (const secret of secretsOf(config)) {
      for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
        forms.add(form)
      if (secret.length >= 8) forms.add(Buffer.from(secret).toString('base64').replace(/=+$/, ''))
    }
  }
  // The longest first: one value may be the beginning of another.
  const ordered = [...forms].sort((a, b) => b.length - a.length)
  const pattern =
    ordered.length === 0
      ? undefined
      : new RegExp(
          ordered.map((form) => form.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join('|'),
          'g',
        )

  function text(given: string): string {
    return pattern === undefined ? given : given.replaceAll(pattern, '[redacted]')
  }

  function data(value: unknown): unknown {
    if (typeof value === 'string') return text(value)
    if (Array.isArray(value)) return value.map(data)
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [text(key), data(item)]))
  }

  return { text, data: (value) => data(value) as never }
}

/**
 * A toolbox whose results are redacted before the policy sees them: whatever reaches the window becomes tokens, and
 * those are stored.
 */
export function redactToolbox(toolbox: Toolbox, redactor: Redactor): Toolbox {
  return {
    get specs() {
      return toolbox.specs
    },
    async call(name, args, options) {
      return redactor.data(await toolbox.call(name, args, options))
    },
  }
}
