import { hash32 } from '../../../engine/random/index.ts'
import type { Random } from '../../../engine/random/index.ts'
import type { Task } from '../../agent/types.ts'
import { isPlainObject, type Salient } from './salient.ts'
import { spoken } from './arguments/words.ts'

/** One step of the request: a tool and its arguments. `linked` is the argument that takes the previous result. */
export interface RequestStep {
  tool: string
  arguments: Record<string, unknown>
  linked?: string
}

interface Paraphrase {
  openers: readonly string[]
  statements: readonly string[]
  joints: readonly string[]
  nexts: readonly string[]
  links: readonly string[]
  reports: Readonly<Record<'whole' | 'field' | 'line' | 'sentence' | 'none', readonly string[]>>
}

const familiar: Paraphrase = {
  openers: [
    'use {tool}',
    'call {tool}',
    'please {tool}',
    '{tool}',
    'can you {tool}',
    'run {tool}',
    'i want to {tool}',
    'now {tool}',
  ],
  statements: [
    '{name} {value}',
    '{name} is {value}',
    '{name}: {value}',
    '{name} = {value}',
    '{value} as {name}',
  ],
  joints: [', ', ' and ', ', and '],
  nexts: [', then ', ' and then ', '. then ', '; after that '],
  links: ['the result', 'that result', 'what it gave'],
  reports: {
    whole: [
      'tell me the exact result',
      'answer with the result',
      'what does it say exactly?',
      'repeat the result word for word',
    ],
    field: ['tell me the {field}', 'answer with the {field}', 'what is the {field}?', 'say only the {field}'],
    line: [
      'tell me the {which} line',
      'answer with the {which} line',
      'what is the {which} line?',
      'repeat the {which} line',
    ],
    sentence: [
      'tell me the {which} sentence',
      'answer with the {which} sentence',
      'what is the {which} sentence?',
      'repeat the {which} sentence',
    ],
    none: ['', 'and say done', 'and tell me when it is done', 'that is all'],
  },
}

/** Templates that training never uses. Success on them is measured, but no gate depends on it. */
const unseen: Paraphrase = {
  openers: [
    'invoke {tool}',
    'kindly perform {tool}',
    'go ahead with {tool}',
    'i would like you to try {tool}',
  ],
  statements: ['{value} for {name}', '{name} being {value}', '{name} should equal {value}'],
  joints: [' plus ', ' along with '],
  nexts: [', next ', ' before you '],
  links: ['its output', 'whatever came back'],
  reports: {
    whole: ['quote the output verbatim', 'report exactly which text came back'],
    field: ['report its {field}', 'i need the {field} from it'],
    line: ['quote its {which} row', 'i need the {which} row from it'],
    sentence: ['quote its {which} statement', 'i need the {which} statement from it'],
    none: ['confirm afterwards', 'thanks in advance'],
  },
}

/** Splits share no template, but all single words occur in training. */
function splitOf(composition: string): Task['split'] {
  const bucket = hash32('mcp-wording', composition) % 5
  return bucket < 3 ? 'train' : bucket === 3 ? 'validation' : 'test'
}

/**
 * Writes the request of a task: every argument by name and value, and what to answer. The combination of phrases
 * belongs to the split. `undefined` as the answer means a task that only changes the state.
 */
export function renderRequest(
  steps: readonly RequestStep[],
  salient: Salient | undefined,
  split: Task['split'],
  random: Random,
): string {
  const paraphrase = split === 'unseen-wording' ? unseen : familiar
  const report = paraphrase.reports[salient?.kind ?? 'none']
  for (let attempt = 0; attempt < 100; attempt++) {
    const chosen = {
      openers: steps.map(() => random.int(paraphrase.openers.length)),
      statement: random.int(paraphrase.statements.length),
      joint: random.int(paraphrase.joints.length),
      next: random.int(paraphrase.nexts.length),
      link: random.int(paraphrase.links.length),
      report: random.int(report.length),
      front: salient !== undefined && random.next() < 0.3 && !report.some((form) => form === ''),
      argumentsFirst: random.next() < 0.25,
    }
    // Only parts that appear in the text count; otherwise two splits could contain equal texts.
    const counts = steps.map((step) => clauses(step).length)
    const composition = [
      chosen.openers,
      counts.some((count) => count > 0) ? [chosen.statement, chosen.argumentsFirst] : [],
      counts.some((count) => count > 1) ? chosen.joint : -1,
      steps.length > 1 ? chosen.next : -1,
      steps.some((step) => step.linked !== undefined) ? chosen.link : -1,
      chosen.report,
      chosen.front,
    ]
    if (split !== 'unseen-wording' && splitOf(JSON.stringify(composition)) !== split) continue
    const parts = steps.map((step, index) => {
      const opener = paraphrase.openers[chosen.openers[index]].replace('{tool}', toolWords(step.tool))
      const stated = clauses(step).map(({ name, value }) =>
        paraphrase.statements[chosen.statement]
          .replace('{name}', () => name)
          .replace('{value}', () => (value === null ? paraphrase.links[chosen.link] : value)),
      )
      if (stated.length === 0) return opener
      const list = joined(stated, paraphrase.joints[chosen.joint])
      return chosen.argumentsFirst ? `with ${list}, ${opener}` : `${opener} with ${list}`
    })
    const asked = report[chosen.report]
      .replace('{field}', salient?.kind === 'field' ? salient.words : '')
      .replace('{which}', salient !== undefined && 'which' in salient ? salient.which : '')
    const body = parts.join(paraphrase.nexts[chosen.next])
    if (asked === '') return body
    if (chosen.front) return `${asked.replace('?', '')}: ${body}`
    const link = asked.startsWith('and ')
      ? ' '
      : asked.endsWith('?') || salient === undefined
        ? '. '
        : ' and '
    return `${body}${link}${asked}`
  }
  throw new Error('no composition of phrase found for the split')
}

/** `create_entities` becomes "create entities". A trailing "tool" is dropped. */
export function toolWords(name: string): string {
  const words = spoken(name)
  return (words.length > 1 && words.at(-1) === 'tool' ? words.slice(0, -1) : words).join(' ')
}

interface Clause {
  name: string
  /** null = the result of the previous step. */
  value: string | null
}

function clauses(step: RequestStep): Clause[] {
  return Object.entries(step.arguments).flatMap(([name, value]) =>
    name === step.linked
      ? [{ name: spoken(name).join(' '), value: null }]
      : clause(spoken(name).join(' '), value),
  )
}

function clause(name: string, value: unknown): Clause[] {
  if (Array.isArray(value)) {
    if (value.some(isPlainObject)) {
      return value.flatMap((item, index) => (index === 0 ? clause(name, item) : again(clause(name, item))))
    }
    return [{ name, value: value.map(String).join(' and ') }]
  }
  if (isPlainObject(value)) {
    return Object.entries(value).flatMap(([key, item]) => clause(spoken(key).join(' '), item))
  }
  return [{ name, value: String(value) }]
}

/** Later records of a list begin with "another", so that records stay apart. */
function again(list: Clause[]): Clause[] {
  return list.map((item, index) => (index === 0 ? { ...item, name: `another ${item.name}` } : item))
}

/** Two clauses joined by "and" alone would read as one clause with a list as its value. */
function joined(list: readonly string[], joint: string): string {
  if (list.length < 2) return list.join('')
  return `${list.slice(0, -1).join(', ')}${joint}${list.at(-1)}`
}
