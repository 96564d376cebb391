import { parseForeignJson } from '../../../../untrusted/foreign-json.ts'
import type { ToolSpec } from '../../../tool/tool.ts'
import { repairJson } from '../../../agent/parse-calls.ts'
import { isRecord } from '../../../../untrusted/schema-check.ts'
import type { AnswerType } from '../goals/value.ts'
import type { McpTask } from '../mcp-task.ts'

/** The styles in which a teacher writes a request again. */
export const styles = {
  terse: 'as few words as possible, like a note to oneself',
  polite: 'a polite and complete request or question',
  casual: 'as one writes to a colleague in a chat',
  background: 'one sentence of plausible background first, then what should be done or found out',
  indirect: 'says what is wrong, or what one would like to be true or to know, without giving an order',
} as const

/** A request in another style, as the teacher wrote it. */
export interface Paraphrase {
  /** One of `styles`, or `other`. */
  style: string
  request: string
}

/** Characters of the state and of a description that the teacher is shown. */
const shownState = 1200
const shownDescription = 300

const answers: Readonly<Record<AnswerType, string>> = {
  text: 'a text',
  number: 'a number',
  date: 'a date or time',
  boolean: 'yes or no',
  list: 'a list',
  // That nothing is found must be found out.
  none: 'a text',
}

/**
 * What the teacher is asked: the request, the calls that prepared the state, those of the reference, what they change, and
 * the rules. Of a task with an answer it gets only the type of that answer.
 */
export function draftMessage(task: McpTask, tools: readonly ToolSpec[]): string {
  const { prompt, seeds, reference = [], expected } = task
  const used = new Set(reference.map(({ name }) => name))
  const described = tools.filter(({ name, description }) => used.has(name) && description !== undefined)
  const calls = (some: readonly { name: string; arguments: Record<string, unknown> }[]): string[] =>
    some.map(({ name, arguments: args }, at) => `${at + 1}. ${name} ${JSON.stringify(args)}`)
  const changes = task.context['changes'] === true
  const outcome = [
    ...(changes ? ['The calls change what the tools keep.'] : []),
    ...(expected.answer === null
      ? []
      : [`The answer is ${answers[expected.type ?? 'text']} that only the tools can give.`]),
    // The state of a task with an answer may hold the answer.
    ...(changes && expected.answer === null && expected.state !== null
      ? [`At the end the tools show: ${cut(expected.state, shownState)}`]
      : []),
  ]
  return [
    'A person gave this request to an assistant that has tools:',
    '',
    prompt,
    '',
    ...(seeds.length === 0
      ? []
      : ['Earlier, other people had made these calls:', ...calls(seeds.map(plainCall)), '']),
    'These calls do what the request asks for:',
    ...calls(reference),
    ...described.map(({ name, description = '' }) => `(${name}: ${cut(description, shownDescription)})`),
    ...outcome,
    '',
    'Write the request again, once in each of these styles:',
    ...Object.entries(styles).map(([style, about]) => `- ${style}: ${about}`),
    '',
    'Rules:',
    '- Each asks for exactly the same. Someone who reads only this one must come to the same calls or the same answer.',
    '- Copy every name, number, date, path and quoted text of the request exactly.',
    '- Add nothing that has to be found out: no answer, no id and no value that the request does not state.',
    '- Do not mention tools, parameters or calls by name.',
    '- Write in the language of the request, at most 60 words each.',
    '',
    'Reply with a JSON array and nothing else: [{"style": "terse", "request": "..."}, ...]',
  ].join('\n')
}

function plainCall({ name, arguments: args }: McpTask['seeds'][number]) {
  return { name, arguments: args }
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)} ...` : text
}

/**
 * Reads the teacher's reply: a JSON array, also in a fence, after reasoning or damaged as models damage JSON. White space
 * in a request becomes single spaces.
 *
 * @param isCut whether the reply ended at the limit of its tokens. Its last request is then left out.
 * @returns undefined if the reply has no such array.
 */
export function readParaphrases(reply: string, isCut = false): Paraphrase[] | undefined {
  const text = reply.slice(reply.lastIndexOf('</think>') + 1)
  // Reasoning may have brackets of its own: the array of objects is meant.
  const start = /\[\s*\{/.exec(text)?.index
  if (start === undefined) return undefined
  const value = readJson(text.slice(start))
  if (!Array.isArray(value)) return undefined
  const found = value.flatMap((item: unknown): Paraphrase[] => {
    if (!isRecord(item) || typeof item['request'] !== 'string') return []
    const { style } = item
    const isKnown = typeof style === 'string' && Object.hasOwn(styles, style)
    return [{ style: isKnown ? style : 'other', request: item['request'].replaceAll(/\s+/g, ' ').trim() }]
  })
  const whole = isCut ? found.slice(0, -1) : found
  return whole.length === 0 ? undefined : whole
}

function readJson(text: string): unknown {
  const end = text.lastIndexOf(']')
  try {
    return parseForeignJson(text.slice(0, end + 1))
  } catch {
    return repairJson(text)
  }
}
