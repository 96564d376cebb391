import { requiredOf, resolveSchema, typeOf } from '../arguments/schema-parts.ts'
import type { KindPlan } from '../mcp-task.ts'
import type { AdmittedTool } from '../safety.ts'
import { isPlainObject } from '../salient.ts'

/** Useful pairs: write and read back, or read and use the result in another tool. */
export function chainsOf(
  tools: readonly AdmittedTool[],
  most: number,
  creators: readonly AdmittedTool[],
): KindPlan[] {
  const readers = tools.filter((tool) => tool.kind === 'read' && requiredOf(tool.spec.inputSchema).length > 0)
  const backs = creators.flatMap((writer) =>
    readers.map((reader) => ({ name: `${writer.spec.name}+${reader.spec.name}`, tools: [writer, reader] })),
  )
  const uses = readers.flatMap((first) =>
    readers
      .filter((second) => second !== first)
      .flatMap((second): KindPlan[] => {
        const linked = linkable(second)
        return linked === undefined
          ? []
          : [{ name: `${first.spec.name}>${second.spec.name}`, tools: [first, second], linked }]
      }),
  )
  return [...backs, ...uses].slice(0, most)
}

/** The first required free text or number of a tool. */
function linkable(tool: AdmittedTool): string | undefined {
  const properties = tool.spec.inputSchema['properties']
  if (!isPlainObject(properties)) return undefined
  return requiredOf(tool.spec.inputSchema).find((name): name is string => {
    const property = typeof name === 'string' ? properties[name] : undefined
    if (!isPlainObject(property)) return false
    const schema = resolveSchema(property, tool.spec.inputSchema)
    const free =
      !('enum' in schema) && !('const' in schema) && !('pattern' in schema) && !('format' in schema)
    return free && ['string', 'number', 'integer'].includes(typeOf(schema) ?? '')
  })
}
