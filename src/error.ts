/** Facts that make an error useful: what was given, what was expected, and what to do about it. */
export interface AgogeErrorDetails {
  /** Stable, kebab-case, for programs: `unknown-server`, `bad-config`, `shape-mismatch` ... */
  code: string
  given?: unknown
  expected?: string
  hint?: string
  cause?: unknown
}

const marker = Symbol.for('agoge.error')

/**
 * The one error type that Agoge throws on purpose. `message` names the problem in one line; the CLI prints
 * `given`, `expected` and `hint` below it, and a stack trace only with `--debug`.
 */
export class AgogeError extends Error {
  readonly code: string
  readonly given: unknown
  readonly expected: string | undefined
  readonly hint: string | undefined
  readonly [marker] = true

  constructor(message: string, details: AgogeErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'AgogeError'
    this.code = details.code
    this.given = details.given
    this.expected = details.expected
    this.hint = details.hint
  }

  /** True for any copy of the class, also one from another installed version of the package. */
  static isInstance(value: unknown): value is AgogeError {
    return typeof value === 'object' && value !== null && marker in value
  }
}

/** An `AgogeError` as data: threads are sent no classes. */
export interface ErrorData {
  message: string
  details: AgogeErrorDetails
}

/** What can be sent to another thread of an `AgogeError`: all but its cause. */
export function errorData({ message, code, given, expected, hint }: AgogeError): ErrorData {
  return { message, details: { code, given, ...(expected && { expected }), ...(hint && { hint }) } }
}
