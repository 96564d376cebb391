import { asObject, requiredOf, typeOf } from '../arguments/schema-parts.ts'
import type { Speech } from './step-words.ts'

/**
 * Whether a request for this call could as well mean another tool: one that is spoken of alike and takes the same values. "Read the
 * file todo.txt" is for `read_file`, not for `read_multiple_files` with one of them.
 */
export function couldMeanAnother(
  { specs, words }: Speech,
  { tool, arguments: args }: { tool: string; arguments: Readonly<Record<string, unknown>> },
): boolean {
  const names = Object.keys(args)
  const values = Object.values(args).flat()
  return (words.get(tool)?.alike ?? []).some((other) => {
    const schema = specs.get(other)?.inputSchema ?? {}
    const properties = asObject(schema['properties'])
    const required = requiredOf(schema).map(String)
    if (names.every((name) => name in properties) && required.every((name) => name in args)) return true
    const [only] = required
    // One value, whatever its argument is called.
    return required.length === 1 && values.length === 1 && typeOf(asObject(properties[only])) !== 'array'
  })
}
