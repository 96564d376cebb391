import { askedWords, type Asked } from '../../environment/mcp/request/asked-words.ts'
import { askAbout, type QuestionForm, saidAnswer } from '../../environment/mcp/goals/questions.ts'
import type { ChatMessage } from '../../tokenizer/template.ts'
import { between, chance, type Draw, pick, quoted, say, shuffled, word } from './draw.ts'
import { synonymsOf } from './lexicon.ts'
import {
  drawRecords,
  plainKeys,
  type RecordCall,
  type Records,
  recordsText,
  type RecordTools,
  recordTools,
} from './records.ts'
import { capital, request } from './tree-task.ts'

export const filters =
  '[whose {by} is {value}|with the {by} {value}|with {value} as [its|their|the] {by}|where the {by} is {value}|that have the {by} {value}]'

/** Some of the records, by a value that they share, or all; the call that shows them, and its words. */
export function looked(
  d: Draw,
  all: Records,
  tools: RecordTools,
): { some: Records; call: RecordCall; words: string } {
  const verb =
    '[look up|show me|list|get|fetch|find|pull up|check|go through|see|open|look at|query|search for]'
  const by = chance(d, 0.5) ? pick(d, [undefined, ...plainKeys(all)]) : undefined
  const holes = { things: chance(d, 0.85) ? all.things : all.noun }
  if (by === undefined) {
    const first = chance(d, 0.3) ? between(d, 1, 12) : undefined
    const how = first === undefined ? '[all|the|all the|all of the|]' : `the first ${first}`
    return {
      some: { ...all, rows: all.rows.slice(0, first) },
      call: tools.look(all, first),
      words: say(d, `${verb} ${how} {things}`, holes),
    }
  }
  const key = all.keyOf(by)
  const value = pick(d, all.rows)[key]
  return {
    some: { ...all, rows: all.rows.filter((row) => row[key] === value) },
    call: tools.find(all, key, value),
    words: say(d, `${verb} [the|all|all the|] {things} ${filters}`, {
      ...holes,
      by: by.words,
      value: quoted(d, String(value), 0.1),
    }),
  }
}

/** The words of a property, or a synonym. */
function spoken(d: Draw, words: string): string {
  if (!chance(d, 0.12)) return words
  const others = synonymsOf('noun', words, d.pool)
  return others.length === 0 ? words : pick(d, others)
}

const forms: readonly QuestionForm[] = [
  'which',
  'which',
  'which',
  'most',
  'most',
  'fact',
  'fact',
  'all',
  'count',
  'count-where',
  'missing',
]

interface Question {
  phrase: string
  question: string
  answer: string
}

/** A question about a result that `stated` does not answer. */
export function drawQuestion(d: Draw, text: string, noun: string, stated: string): Question | undefined {
  for (const form of shuffled(d, forms).slice(0, 4)) {
    const strange = `${word(d)} ${word(d)}`
    const found = askAbout(text, form, { stated, noun, random: d.random, ignore: [], strange })
    if (found === undefined) continue
    const { asked, expected } = found
    const isShort = expected.answer.length <= 60 && !expected.answer.includes('\n')
    if (!isShort || ['whole', 'line', 'sentence'].includes(asked.form)) continue
    const words = askedWords(renamed(d, asked), false)
    if (words.phrases.length === 0 || words.questions.length === 0) continue
    const answer = saidAnswer(found, text)
    return { phrase: pick(d, words.phrases), question: pick(d, words.questions), answer }
  }
  return undefined
}

function renamed(d: Draw, asked: Asked): Asked {
  return {
    ...asked,
    ...('of' in asked ? { of: spoken(d, asked.of) } : {}),
    ...('by' in asked ? { by: spoken(d, asked.by) } : {}),
  }
}

const telling = '[tell me|let me know|report|answer with|give me|say|write down|state|find out]'

/** What is looked up, and what is asked about it: the question comes before the records, as it does with real servers. */
export function wordsOfLook(d: Draw, words: string, { phrase, question }: Question): string {
  switch (d.random.int(5)) {
    case 0:
    case 1:
      return say(d, `{words} and ${telling} {phrase}`, { words, phrase })
    case 2:
      return `${words}. ${capital(question)}?`
    case 3:
      return `${question}? ${capital(words)}`
    default:
      return say(
        d,
        `[${telling} {phrase}: {words}|{words}, then ${telling} {phrase}|i need {phrase}: {words}]`,
        {
          words,
          phrase,
        },
      )
  }
}

/** Draws again where a draw leads nowhere. */
export const retried =
  (make: (d: Draw) => ChatMessage[] | undefined) =>
  (d: Draw): ChatMessage[] => {
    for (;;) {
      const messages = make(d)
      if (messages !== undefined) return messages
    }
  }

/** Look at records, answer with what stands in one of them; then more such questions that need no further call. */
export const askOfRecords = retried((d) => {
  const all = drawRecords(d)
  const { some, call, words } = looked(d, all, pick(d, recordTools))
  const text = recordsText(d, some)
  const first = drawQuestion(d, text, all.noun, words)
  if (first === undefined) return undefined
  const messages: ChatMessage[] = [
    { role: 'user', text: request(d, wordsOfLook(d, words, first)) },
    { role: 'assistant', text: '', calls: [call] },
    { role: 'tool', text },
    { role: 'assistant', text: first.answer },
  ]
  for (let more = pick(d, [0, 1, 2, 3]); more > 0; more -= 1) {
    const next = drawQuestion(d, text, all.noun, '')
    if (next === undefined) continue
    const asked = chance(d, 0.5)
      ? `${next.question}?`
      : say(d, `${telling} {phrase}`, { phrase: next.phrase })
    messages.push(
      { role: 'user', text: chance(d, 0.3) ? `and ${asked}` : asked },
      { role: 'assistant', text: next.answer },
    )
  }
  return messages
})
