import { AgogeError } from '../../error.ts'
import { asFileError } from '../../runs/files.ts'
import { InfrastructureError } from '../../llm/tool/tool.ts'

const longestValue = 400

/**
 * Formats an error for the user: the problem, the given value, the expected one and a hint. The stack is shown only
 * with `debug`.
 */
export function describeError(given: unknown, debug: boolean): string {
  const error = asFileError(pathOf(given), given)
  if (!(error instanceof Error) && !AgogeError.isInstance(error)) return `error: ${String(error)}`
  // Messages may quote a server's last output. Escaping keeps its lines distinct from ours.
  const lines = [`error: ${error.message.replaceAll(/\n(?=\S)/g, '\n  ')}`]
  if (AgogeError.isInstance(error)) {
    if (error.given !== undefined) lines.push(labelled('given', show(error.given)))
    if (error.expected !== undefined) lines.push(labelled('expected', error.expected))
    if (error.hint !== undefined) lines.push(labelled('hint', error.hint))
  } else if (error instanceof InfrastructureError && error.hint !== undefined)
    lines.push(labelled('hint', error.hint))
  else if (!debug)
    lines.push(labelled('hint', 'run the same command with --debug to see where this came from'))
  if (debug) lines.push('', ...stacks(error))
  return lines.join('\n')
}

/** Errors of writing to an open file lack its path. */
function pathOf(error: unknown): string {
  return error instanceof Error && 'path' in error ? String(error.path) : 'a file'
}

function labelled(label: string, text: string): string {
  return `  ${`${label}:`.padEnd(10)}${text.replaceAll('\n', `\n${' '.repeat(12)}`)}`
}

function stacks(error: Error): string[] {
  const own = error.stack ?? error.message
  return error.cause instanceof Error ? [own, 'caused by:', ...stacks(error.cause)] : [own]
}

function show(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, plain) ?? String(value))
  return text.length > longestValue ? `${text.slice(0, longestValue)} ...` : text
}

function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
