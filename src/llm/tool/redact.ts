import { inspect } from 'node:util'
import { AgogeError } from '../../error.ts'
import { InfrastructureError, type Toolbox, type ToolSpec } from './tool.ts'
import type { UnusableTool } from './mcp-results.ts'
import type { ServerConfig } from './server-config.ts'

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
  /** In place of a value while others are searched for: a value such as "acted" must not be found in "[redacted]". */
  const mark = '\uFFFF'

  // No regular expression: a value may be larger than one can be, and the error would quote it.
  function text(given: string): string {
    const marked = ordered.reduce((rest, form) => rest.replaceAll(form, mark), given)
    return marked === given ? given : marked.replaceAll(mark, '[redacted]')
  }

  return { text, data: (value) => redactData(value, text) }
}

/** A copy of plain data with `redact` applied to every string, keys included; all else as it is. */
export function redactData<T>(given: T, redact: (text: string) => string): T {
  function copy(value: unknown): unknown {
    if (typeof value === 'string') return redact(value)
    if (Array.isArray(value)) return value.map(copy)
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [redact(key), copy(item)]))
  }
  return copy(given) as T
}

/**
 * The tools of a server with every text redacted. A server knows a tool only by its true name, so a tool whose name would change is
 * unusable, under the redacted name.
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

/** The same error with its texts redacted; its cause is dropped where it says what is hidden. */
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
 * A toolbox whose tools and results are redacted before the policy sees them: whatever reaches the window becomes tokens, and
 * those are stored. Tools whose name holds a secret are left out.
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
