import { verbs } from '../../environment/mcp/request/lexicon.ts'
import { callText, type ChatMessage } from '../../tokenizer/template.ts'
import { chance, pick } from './draw.ts'
import type { Draw } from './draw.ts'

/** Verbs of requests that mean the same wherever the skills use them. */
const replaceable = new Set(
  'make create add move remove delete find put change copy write check search'.split(' '),
)

/**
 * The conversation with some verbs of its requests replaced by synonyms. Words that stand anywhere else, such as names that
 * must be copied, stay.
 */
export function inOtherWords(d: Draw, messages: readonly ChatMessage[]): ChatMessage[] {
  const taken = new Set(
    messages
      .flatMap(({ role, text, calls = [] }) => [...(role === 'user' ? [] : [text]), ...calls.map(callText)])
      .flatMap((text) => text.toLowerCase().match(/[a-z]+/g) ?? []),
  )
  return messages.map((message) => {
    if (message.role !== 'user') return message
    return { ...message, text: reword(d, message.text, taken) }
  })
}

function reword(d: Draw, text: string, taken: ReadonlySet<string>): string {
  // Only whole words between spaces: what stands in quotes or in a path is no verb.
  return text.replace(/(?<=^|\s)[A-Za-z]+(?=\s)/g, (word) => {
    const verb = word.toLowerCase()
    if (!replaceable.has(verb) || taken.has(verb) || !chance(d, 0.5)) return word
    const other = pick(d, verbs.get(verb)?.usual ?? [verb])
    return word === verb ? other : other.charAt(0).toUpperCase() + other.slice(1)
  })
}
