import { SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'
import type { StdioTransport } from './stdio-transport.ts'

const longestCause = 300

export function isTimeout(cause: unknown): boolean {
  return cause instanceof SdkError && cause.code === SdkErrorCode.RequestTimeout
}

/** What went wrong with a server, in a line or two. Redacted before it is shortened: half a secret would not be found any more. */
export function causeText(cause: unknown, redact: (text: string) => string): string {
  if (isTimeout(cause)) return 'no answer in time'
  if (!(cause instanceof Error)) return String(cause)
  const status = cause instanceof SdkHttpError ? ` (HTTP ${cause.status})` : ''
  // fetch hides the reason (ECONNREFUSED ...) in its cause.
  const inner = cause.cause instanceof Error ? ` (${cause.cause.message})` : ''
  return `${schemaText(cause) ?? short(redact(cause.message))}${status}${inner}`
}

const slowStart =
  'Check that it is an MCP server: run its command in a terminal, or look at its log. If it only needs longer to start, say so in the MCP configuration: "agoge": { "NAME": { "connectSeconds": 60 } }.'

/**
 * What to do about a server that does not come up.
 *
 * @param cause `'slow'` where it did not answer `initialize` in time.
 * @param stdio absent = a server behind a url.
 */
export function connectHint(
  cause: unknown,
  stdio: Pick<StdioTransport, 'ended' | 'stray'> | undefined,
): string {
  if (cause === 'slow' && stdio?.stray() === undefined) return slowStart
  if (stdio !== undefined) {
    return stdio.stray() === undefined
      ? 'Run its command in a terminal to see what it says: it must be an MCP server, and stay to be spoken to over its standard streams.'
      : 'Its standard output must have messages of the protocol alone: let it log to standard error, or correct its command.'
  }
  const status = cause instanceof SdkHttpError ? cause.status : undefined
  if (status === 401 || status === 403) {
    return 'Give it a key that it accepts, in the MCP configuration: "headers": { "Authorization": "Bearer ${TOKEN}" }, with TOKEN in the environment.'
  }
  if (status !== undefined && status >= 500)
    return 'The server has a fault of its own: try later, or look at its log.'
  return 'Check "url" (and "headers") in the MCP configuration: is the server running, and is that its endpoint for streamable HTTP (often ending in /mcp)?'
}

interface Issue {
  path?: unknown
  message?: unknown
  errors?: unknown
}

/** What the protocol's schemas refuse comes as a list of all that is wrong with it, as JSON: the first of it is enough. */
function schemaText({ message }: Error): string | undefined {
  const [, before, list] = /^([^[]*)(\[\s*\{[\s\S]*\])\s*$/.exec(message) ?? []
  if (list === undefined) return undefined
  try {
    return `${before}its answer is not of the protocol (${issueText((JSON.parse(list) as Issue[])[0], [])})`
  } catch {
    return undefined
  }
}

/** Of alternatives, none of which fits, the first is told of. */
function issueText({ path, message, errors }: Issue, above: readonly unknown[]): string {
  const where = [...above, ...(Array.isArray(path) ? (path as unknown[]) : [])]
  const alternatives = (Array.isArray(errors) ? errors : []) as Issue[][]
  const [inner] = alternatives[0] ?? []
  if (inner !== undefined) return issueText(inner, where)
  return where.length === 0 ? String(message) : `${where.join('.')}: ${String(message)}`
}

const short = (text: string): string =>
  text.length > longestCause ? `${text.slice(0, longestCause)} ...` : text
