import type { Asked } from '../../../environment/mcp/request/asked-words.ts'
import { fieldWords } from '../../../environment/mcp/request/asked-words.ts'
import type { RequestStep } from '../../../environment/mcp/request/step-words.ts'
import {
  askAbout,
  saidAnswer,
  type Question,
  type QuestionForm,
} from '../../../environment/mcp/goals/questions.ts'
import {
  isNaming,
  isUnique,
  readResult,
  sayableKeys,
  tablesIn,
} from '../../../environment/mcp/goals/tables.ts'
import { noneAnswer } from '../../../environment/mcp/goals/value.ts'
import { chance, pick, shuffled, word } from '../draw.ts'
import type { Draw } from '../draw.ts'
import { ToolFailure, type Arguments, type ServerTool } from './server.ts'

/** A call that was made, with what came back. */
export interface MadeCall {
  name: string
  arguments: Arguments
  result: string
}

/** What a person wants of a server, carried out. */
export interface Plan {
  calls: MadeCall[]
  /** The steps as the request states them. */
  steps: RequestStep[]
  asked: Asked | undefined
  answer: string
}

/** Longest result, in characters, and longest answer. */
const longest = { result: 420, answer: 90 }

/** Draws what to do and does it; undefined if this draw leads nowhere. */
export function drawPlan(d: Draw, tools: readonly ServerTool[]): Plan | undefined {
  const readers = tools.filter(({ effect }) => effect === 'reads')
  const writers = tools.filter(({ effect }) => effect !== 'reads')
  const listers = readers.filter(({ lists }) => lists === true)
  const draw = d.random.next()
  if (draw < 0.3) return writers.length === 0 ? undefined : changes(d, writers, 1)
  if (draw < 0.55) return readers.length === 0 ? undefined : question(d, [pick(d, readers)])
  if (draw < 0.68) return writers.length === 0 ? undefined : changes(d, writers, 2 + d.random.int(2))
  if (draw < 0.78)
    return writers.length === 0 || readers.length === 0
      ? undefined
      : question(d, [pick(d, writers), pick(d, readers)])
  if (draw < 0.92) return listers.length === 0 ? undefined : lookUp(d, pick(d, listers), tools)
  if (draw < 0.97)
    return listers.length === 0 || writers.length < 2 ? undefined : condition(d, pick(d, listers), writers)
  return failing(d, readers)
}

/** Carries out a call; undefined if it fails or says too much. */
function call(tool: ServerTool, args: Arguments): MadeCall | undefined {
  // What the state keeps must not change what the conversation shows.
  const given = structuredClone(args)
  try {
    const result = tool.run(args)
    return result.length > longest.result ? undefined : { name: tool.spec.name, arguments: given, result }
  } catch (error) {
    if (error instanceof ToolFailure) return undefined
    throw error
  }
}

const stepOf = (tool: ServerTool, args: Arguments): RequestStep => ({
  tool: tool.spec.name,
  arguments: args,
  effect: tool.effect,
})

function changes(d: Draw, writers: readonly ServerTool[], count: number): Plan | undefined {
  const calls: MadeCall[] = []
  const steps: RequestStep[] = []
  for (let i = 0; i < count; i += 1) {
    const tool = pick(d, writers)
    const args = tool.draw()
    const made = args === undefined ? undefined : call(tool, args)
    if (made === undefined) return undefined
    calls.push(made)
    steps.push(stepOf(tool, made.arguments))
  }
  const texts = new Set(calls.map((made) => JSON.stringify([made.name, made.arguments])))
  return texts.size < count ? undefined : { calls, steps, asked: undefined, answer: 'done' }
}

const forms: readonly QuestionForm[] = [
  'fact',
  'fact',
  'fact',
  'which',
  'which',
  'all',
  'most',
  'count',
  'count-where',
  'missing',
]

/** Calls of which the last is asked about. */
function question(d: Draw, tools: readonly ServerTool[]): Plan | undefined {
  const calls: MadeCall[] = []
  const steps: RequestStep[] = []
  for (const tool of tools) {
    const args = tool.draw()
    const made = args === undefined ? undefined : call(tool, args)
    if (made === undefined) return undefined
    calls.push(made)
    steps.push(stepOf(tool, made.arguments))
  }
  return askLast(d, tools[tools.length - 1], calls, steps)
}

function askLast(d: Draw, tool: ServerTool, calls: MadeCall[], steps: RequestStep[]): Plan | undefined {
  const { result } = calls[calls.length - 1]
  const stated = JSON.stringify(steps.map((step) => [step.arguments, step.references, step.condition]))
  const found = ask(d, result, stated, tool.noun)
  if (found === undefined) return undefined
  const { asked, expected } = found
  // An answer that the request states needs no look.
  const states = asked.form !== 'missing' && stated.toLowerCase().includes(expected.answer.toLowerCase())
  const short = expected.answer.length <= longest.answer && !/\n/.test(expected.answer)
  if (!short || (states && !['whole', 'number', 'count'].includes(asked.form))) return undefined
  const last = steps[steps.length - 1]
  const answer = saidAnswer(found, result)
  return { calls, steps: [...steps.slice(0, -1), { ...last, result }], asked, answer }
}

function ask(d: Draw, result: string, stated: string, noun: string): Question | undefined {
  for (const form of shuffled(d, forms).slice(0, 3)) {
    const strange = `${word(d)} ${word(d)}`
    const found = askAbout(result, form, { stated, noun, random: d.random, ignore: [], strange })
    if (found !== undefined) return found
  }
  return undefined
}

/** "the contact whose email is x": the argument is found in a list first. */
function lookUp(d: Draw, lister: ServerTool, tools: readonly ServerTool[]): Plan | undefined {
  const shown = call(lister, {})
  const takers = tools.filter(
    ({ noun, lists, effect }) => noun === lister.noun && lists !== true && effect !== 'adds',
  )
  if (shown === undefined || takers.length === 0) return undefined
  const [table] = tablesIn(readResult(shown.result), lister.noun)
  if (table === undefined || table.records.length < 2) return undefined
  const tool = pick(d, takers)
  const args = tool.draw()
  if (args === undefined) return undefined
  const stated = JSON.stringify(args)
  const ways = Object.entries(args).flatMap(([argument, value]) => {
    const [item, ...more] = Array.isArray(value) ? (value as unknown[]) : [value]
    if (more.length > 0 || (typeof item !== 'string' && typeof item !== 'number')) return []
    return Object.keys(table.records[0]).flatMap((key) => {
      const record = table.records.find((one) => one[key] === item)
      if (record === undefined || !isUnique(table, key)) return []
      return sayableKeys(table, [])
        .filter(
          (by) =>
            by !== key &&
            isUnique(table, by) &&
            typeof record[by] !== 'boolean' &&
            !stated.includes(String(record[by])),
        )
        .map((by) => ({ argument, by, value: String(record[by]) }))
    })
  })
  if (ways.length === 0) return undefined
  const { argument, by, value } = pick(d, ways)
  const made = call(tool, args)
  if (made === undefined) return undefined
  const words = fieldWords(by, lister.noun)
  const described = chance(d, 0.5) ? `whose ${words} is ${value}` : `with the ${words} ${value}`
  const step = {
    ...stepOf(tool, made.arguments),
    references: { [argument]: `the ${lister.noun} ${described}` },
  }
  if (tool.effect === 'reads') return askLast(d, tool, [shown, made], [step])
  return { calls: [shown, made], steps: [step], asked: undefined, answer: 'done' }
}

/** "If the city of the customer Ada is Rome, remove it, otherwise ...": true half of the time. */
function condition(d: Draw, lister: ServerTool, writers: readonly ServerTool[]): Plan | undefined {
  const shown = call(lister, {})
  if (shown === undefined) return undefined
  const [table] = tablesIn(readResult(shown.result), lister.noun)
  if (table === undefined) return undefined
  const keys = sayableKeys(table, [])
  const naming = keys.filter((key) => isNaming(key) && isUnique(table, key))
  const others = keys.filter((key) => !naming.includes(key))
  if (naming.length === 0 || others.length === 0) return undefined
  const [by, of, record] = [pick(d, naming), pick(d, others), pick(d, table.records)]
  const holds = chance(d, 0.5)
  const value = record[of]
  const other =
    typeof value === 'boolean' ? !value : typeof value === 'number' ? value + 1 + d.random.int(5) : word(d)
  const stated = holds ? value : other
  if ((stated === value) !== holds) return undefined
  const [yes, no] = shuffled(d, writers)
  const [yesArgs, noArgs] = [yes.draw(), no.draw()]
  if (yesArgs === undefined || noArgs === undefined) return undefined
  const steps = [
    {
      ...stepOf(yes, structuredClone(yesArgs)),
      condition: `the ${fieldWords(of, lister.noun)} of the ${lister.noun} ${String(record[by])} is ${String(stated)}`,
    },
    { ...stepOf(no, structuredClone(noArgs)), condition: 'otherwise' },
  ]
  const made = holds ? call(yes, yesArgs) : call(no, noArgs)
  return made === undefined ? undefined : { calls: [shown, made], steps, asked: undefined, answer: 'done' }
}

/** What does not exist: the tool fails, and the answer says so. */
function failing(d: Draw, readers: readonly ServerTool[]): Plan | undefined {
  const takers = readers.filter(({ spec }) => (spec.inputSchema['required'] as string[]).length === 1)
  if (takers.length === 0) return undefined
  const tool = pick(d, takers)
  const args = tool.draw()
  const [entry] = Object.entries(args ?? {})
  if (args === undefined || entry === undefined || typeof entry[1] !== 'string') return undefined
  const wrong = { [entry[0]]: word(d) }
  try {
    tool.run(wrong)
    return undefined
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error
    const made = { name: tool.spec.name, arguments: wrong, result: error.message }
    return { calls: [made], steps: [stepOf(tool, wrong)], asked: { form: 'whole' }, answer: noneAnswer }
  }
}
