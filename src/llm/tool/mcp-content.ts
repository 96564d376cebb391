import type { CallToolResult } from '@modelcontextprotocol/client'
import type { ToolResult } from './types.ts'

type Block = CallToolResult['content'][number]

function blockText(block: Block): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return `[${block.type} ${block.mimeType}]`
    case 'resource':
      return 'text' in block.resource
        ? block.resource.text
        : `[resource ${block.resource.uri}${block.resource.mimeType === undefined ? '' : ` ${block.resource.mimeType}`}]`
    case 'resource_link':
      return `[resource ${block.uri}]`
    default:
      return `[${String((block as { type: unknown }).type)}]`
  }
}

/**
 * A tool's result as text for the policy: text blocks and embedded text joined by line breaks, anything else
 * named in brackets; structured content alone becomes its JSON.
 */
export function toToolResult(result: CallToolResult): ToolResult {
  const content = result.content ?? []
  const structured = result.structuredContent
  const text =
    content.length === 0 && structured !== undefined
      ? JSON.stringify(structured)
      : content.map(blockText).join('\n')
  return { text, isError: result.isError === true, ...(structured === undefined ? {} : { structured }) }
}
