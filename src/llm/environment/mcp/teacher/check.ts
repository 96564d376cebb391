import { defined } from '../../../../defined.ts'
import { isRecord } from '../../../../untrusted/schema-check.ts'
import { isVisible } from '../../../../untrusted/visible-text.ts'
import { runEpisodes } from '../../../agent/turn-loop.ts'
import type { Actor, ToolEnvironment } from '../../../agent/types.ts'
import type { Episode } from '../../../episode/types.ts'
import type { ToolSpec } from '../../../tool/tool.ts'
import { hasValue } from '../goals/value.ts'
import type { McpTask } from '../mcp-task.ts'
import { containsWhole } from '../salient.ts'
import { limitReached } from './budget.ts'

/** Most words and characters of a request, unless the original is nearly as long. */
const mostWords = 80
const mostCharacters = 600

interface CheckContext {
  /** What makes a request known: see `requestKey`. */
  known: ReadonlySet<string>
  /** See `identifiersOf`. */
  identifiers: readonly string[]
}

/** Why the text of a paraphrase cannot be used. Undefined: it can be played. */
export function whyUnfit(
  request: string,
  task: McpTask,
  { known, identifiers }: CheckContext,
): string | undefined {
  const { prompt, expected, reference = [] } = task
  if (request === '' || !isVisible(request)) return 'empty, or with characters that cannot be shown'
  const words = (text: string): number => text.split(/\s+/).length
  if (
    words(request) > Math.max(mostWords, words(prompt) + 30) ||
    request.length > Math.max(mostCharacters, prompt.length + 300)
  )
    return 'too long'
  if (known.has(requestKey(request))) return 'the same as another request'
  if (revealsAnswer(request, expected) && !revealsAnswer(prompt, expected)) return 'reveals the answer'
  const news = (part: string): boolean => states(request, part) && !states(prompt, part)
  if (reference.some(({ arguments: args }) => valuesIn(args).some(news)))
    return 'states a value that has to be looked up'
  if (identifiers.some(news) || (/\{\s*"/.test(request) && !/\{\s*"/.test(prompt)))
    return 'names a tool or a parameter'
  return undefined
}

/** Equal for requests that differ only in case, white space and the punctuation at their end. */
export function requestKey(request: string): string {
  return request
    .toLowerCase()
    .replaceAll(/\s+/g, ' ')
    .replace(/[\s.!?]+$/, '')
    .trim()
}

/**
 * Names of tools and parameters that nobody would write in a sentence: with an underscore, a capital inside, or, of a tool,
 * a hyphen. A parameter called `name` is a word like any other.
 */
export function identifiersOf(tools: readonly ToolSpec[]): string[] {
  const isIdentifier = (name: string): boolean => /\w_\w|[a-z]\d*[A-Z]/.test(name)
  const names = tools.flatMap(({ name, inputSchema }) => [
    ...(isIdentifier(name) || /\w[-./]\w/.test(name) ? [name] : []),
    ...propertiesIn(inputSchema, 0).filter(isIdentifier),
  ])
  return [...new Set(names)]
}

/** Levels of a schema in which parameters are found. */
const deepest = 6

function propertiesIn(schema: unknown, depth: number): string[] {
  if (depth > deepest || !isRecord(schema)) return []
  const { properties, items } = schema
  const inner = isRecord(properties) ? Object.values(properties) : []
  return [
    ...(isRecord(properties) ? Object.keys(properties) : []),
    ...[...inner, items].flatMap((each) => propertiesIn(each, depth + 1)),
  ]
}

function states(text: string, part: string): boolean {
  return containsWhole(text.toLowerCase(), part.toLowerCase())
}

/** The texts and numbers in the arguments of a call. One letter or digit is too little to be recognised. */
function valuesIn(value: unknown): string[] {
  if (typeof value === 'string' || typeof value === 'number') {
    const text = String(value).trim()
    return text.length > 1 ? [text] : []
  }
  if (Array.isArray(value)) return value.flatMap(valuesIn)
  return isRecord(value) ? Object.values(value).flatMap(valuesIn) : []
}

/** Words of a date that are written in a row: "Monday, 5 January 2026". */
const longestRun = 4

/** Whether a text states the answer, in another notation too: "1,250" or "twelve" for a number, one item of a list. */
export function revealsAnswer(text: string, { answer, type = 'text' }: McpTask['expected']): boolean {
  if (answer === null || type === 'none') return false
  if (type === 'list') return answer.split(', ').some((item) => states(text, item))
  if (type === 'text' || type === 'boolean') return states(text, answer)
  const words = text.split(/\s+/).map((word) => word.replaceAll(/^[("'`]+|[)"'`,;:!?]+$/g, ''))
  const runs = words.flatMap((_, from) =>
    Array.from({ length: longestRun }, (__, more) => words.slice(from, from + more + 1).join(' ')),
  )
  return runs.some((run) => hasValue(run, { type, answer }))
}

/** Turns that a reading may take beyond the calls of the reference: the answer, and three looks or mistakes. */
const spareTurns = 4
/** Seconds that one call of a tool may take. */
const toolDeadlineSeconds = 20

/** Turns of one reading of a task's request. */
export function readingTurns({ reference = [] }: Pick<McpTask, 'reference'>): number {
  return reference.length + spareTurns
}

/**
 * Reads requests independently: a fresh conversation for each plays it on the tools, without the plan, and the judge of the
 * environment decides. The requests are paraphrases of one task.
 *
 * @returns for each task, why it is not confirmed; undefined if the reading did what the reference does.
 * @throws AgogeError if the endpoint refuses the key or the model.
 */
export async function readIndependently(
  environment: ToolEnvironment<McpTask>,
  actor: Actor,
  tasks: readonly McpTask[],
  signal?: AbortSignal,
): Promise<(string | undefined)[]> {
  if (tasks.length === 0) return []
  const specs = tasks.map((task) => ({ id: `reading/${task.id}`, group: `reading/${task.id}`, task }))
  // Each answer of an endpoint has its own deadline.
  const limits = { turns: readingTurns(tasks[0]), deadlineSeconds: Infinity, toolDeadlineSeconds }
  const episodes = await runEpisodes(specs, actor, environment, limits, defined({ signal }))
  signal?.throwIfAborted()
  return episodes.map(whyUnconfirmed)
}

function whyUnconfirmed({ status, success, ending, error = 'no reason given' }: Episode): string | undefined {
  // A masked episode says nothing about the request.
  if (status === 'masked' && error === limitReached) return limitReached
  if (status === 'masked') return `the reading was masked: ${error}`
  if (success === true) return undefined
  return ending === 'answered' ? 'the reading did something else' : 'the reading came to no end'
}
