import { toolSignatures } from '../../agent/chat-format/tool-signatures.ts'
import type { ChatMessage } from '../../tokenizer/template.ts'
import { chance, pick, quoted, say } from './draw.ts'
import type { Draw } from './draw.ts'
import {
  fixedToolVocabularies,
  inventToolVocabulary,
  toolDescriptions,
  treeToolSpecs,
} from './tool-vocabulary.ts'
import type { Action, ToolVocabulary } from './tool-vocabulary.ts'
import { act, makeTree, nameOf, parentOf, type Step, type Tree } from './tree.ts'

/** A conversation under construction: a request over a tree, the calls that fulfil it, the answer. */
export interface CorpusTask {
  d: Draw
  of: ToolVocabulary
  tree: Tree
  used: Action[]
  turns: ChatMessage[]
}

function startTask(d: Draw): CorpusTask {
  const of = chance(d, 0.62) ? pick(d, fixedToolVocabularies) : inventToolVocabulary(d)
  return { d, of, tree: makeTree(d), used: [], turns: [] }
}

/** The finished conversation. Starts with descriptions if its tools are new. */
function finishTask(e: CorpusTask): ChatMessage[] {
  const used = [...new Set(e.used)]
  // In the stage with a lexicon, most tools are described as servers describe theirs.
  if (e.d.lexicon !== undefined && chance(e.d, 0.7)) {
    const text = toolSignatures(treeToolSpecs(e.d, e.of, used), () => true)
    return [{ role: 'system', text }, ...e.turns]
  }
  const known = fixedToolVocabularies.includes(e.of)
  if (known && !chance(e.d, 0.06)) return e.turns
  return [{ role: 'system', text: toolDescriptions(e.d, e.of, used) }, ...e.turns]
}

/** A kind of conversation over a tree. */
export type Story = (d: Draw) => ChatMessage[]

export const story =
  (unfold: (e: CorpusTask) => void): Story =>
  (d) => {
    const e = startTask(d)
    unfold(e)
    return finishTask(e)
  }

/** Performs a call without adding it to the conversation yet. */
export function perform(e: CorpusTask, action: Action, ...args: string[]): Step {
  e.used.push(action)
  return act(e.tree, e.of, action, ...args)
}

export const ask = (e: CorpusTask, text: string): void => void e.turns.push({ role: 'user', text })

export function tell(e: CorpusTask, ...steps: Step[]): void {
  for (const { call, result } of steps) {
    e.turns.push({ role: 'assistant', text: '', calls: [call] }, { role: 'tool', text: result })
  }
}

/** Adds a call with a preceding reason. */
export function explainWhy(e: CorpusTask, why: string, { call, result }: Step): void {
  e.turns.push({ role: 'assistant', text: why, calls: [call] }, { role: 'tool', text: result })
}

/** Performs a call and adds it. Returns the result's text. */
export function step(e: CorpusTask, action: Action, ...args: string[]): string {
  const done = perform(e, action, ...args)
  tell(e, done)
  return done.result
}

export const answer = (e: CorpusTask, text: string): void => void e.turns.push({ role: 'assistant', text })

/** The holes that every template over a tree may use. */
export const holes = (e: CorpusTask, more: Record<string, string> = {}): Record<string, string> => ({
  leaf: e.of.leaf[0],
  leaves: e.of.leaf[1],
  box: e.of.box[0],
  boxes: e.of.box[1],
  ...more,
})

/** Names a leaf by its full path or, if `parted`, by name and box ("list-red.csv from the amber shelf"). */
export function leafAt(e: CorpusTask, path: string, parted = 0.35): string {
  const { d } = e
  const parent = parentOf(path)
  if (parent === '' || !chance(d, parted)) {
    return say(d, '[the|] {leaf} {path}', holes(e, { path: quoted(d, path, 0.25) }))
  }
  return say(
    d,
    '[the {leaf}|{leaf}|] {name} [in|from|on|under|that is in|of] {where}',
    holes(e, {
      name: quoted(d, nameOf(path), 0.25),
      where: boxAt(e, parent),
    }),
  )
}

/** Names a box: its path, or its bare name at the top level. */
export function boxAt(e: CorpusTask, path: string): string {
  const { d } = e
  if (path === '') return pick(d, ['the top', '/'])
  const top = parentOf(path) === ''
  if (top && chance(d, 0.55))
    return say(d, '[the|] [{name} {box}|{box} {name}|{name} {box}]', holes(e, { name: nameOf(path) }))
  return say(d, '[the|] {box} {path}', holes(e, { path }))
}

/** The root, as tools expect it. */
export const rootOf = (path: string): string => (path === '' ? '/' : path)

const question =
  /^(what|how|which|where|is|in which|somewhere|who|does|do|if|unless|when|before|after|first|where|there)\b/

/** Adds openers, politeness and an ending to a request, which starts in lower case. */
export function request(d: Draw, text: string): string {
  const openers = question.test(text)
    ? '[||||||now, |hey, |please: |quick one: |well, ]{text}'
    : '[|||please |can you |could you |would you |now |hey, |i want you to |kindly |you should ]{text}'
  const dressed = say(d, openers, { text: text.trim() })
  const capital =
    chance(d, 0.4) && /^[a-z]/.test(dressed) ? dressed[0].toUpperCase() + dressed.slice(1) : dressed
  return capital + pick(d, ['', '', '', '', '.', '.', ' please', ', thanks'])
}

export const capital = (text: string): string => text[0].toUpperCase() + text.slice(1)

/** Clauses in the order in which they are meant. */
export function inOrder(d: Draw, clauses: readonly string[]): string {
  if (clauses.length === 1) return clauses[0]
  if (chance(d, 0.12)) return clauses.map((clause, at) => `${at + 1}. ${clause}`).join(' ')
  const joint = pick(d, [', then ', '. Then ', '. After that, ', '; then ', ', and ', '; ', '. Next, ', '. '])
  const last = chance(d, 0.3) ? pick(d, [', and finally ', ', and last ', '. Finally, ']) : joint
  return clauses
    .map((clause, at) => {
      const before = at === 0 ? '' : at === clauses.length - 1 ? last : joint
      return before + (before === '. ' ? capital(clause) : clause)
    })
    .join('')
}

/** The reply after the work: "done", unless the request names another word. */
export function closing(e: CorpusTask): { ask: string; answer: string } {
  const { d } = e
  if (chance(d, 0.8)) return { ask: '', answer: 'done' }
  const word = pick(d, ['ok', 'ready', 'finished', 'all set', 'yes', 'complete'])
  return {
    ask: say(d, '[, and|; then|, then|. afterwards] [say|answer|reply] [with|] {word}', {
      word: quoted(d, word, 0.4),
    }).replace(/^ /, ''),
    answer: word,
  }
}

/** The request, the calls that fulfil it, the answer. `text` is worded last, together with the requested reply. */
export function fulfil(e: CorpusTask, text: () => string, steps: readonly Step[]): void {
  const end = closing(e)
  ask(e, request(e.d, text() + (/^[a-z]/.test(end.ask) ? ` ${end.ask}` : end.ask)))
  tell(e, ...steps)
  answer(e, end.answer)
}
