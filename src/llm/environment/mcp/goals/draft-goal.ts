import { defined } from '../../../../defined.ts'
import { yieldToEventLoop } from '../../../../event-loop.ts'
import type { Random } from '../../../../engine/random/index.ts'
import type { Task } from '../../../agent/types.ts'
import { sampleArguments } from '../arguments/sample-arguments.ts'
import { type SplitWords, wordsOf } from '../arguments/words.ts'
import { isFilled, recordsIn, seedArguments } from '../mcp-task.ts'
import type { RequestStep } from '../request/step-words.ts'
import type { AdmittedTool } from '../safety.ts'
import type { PlainObject } from '../salient.ts'
import { newState, type StateCall, type StateCallOptions } from '../server/state-pool.ts'
import type { ToolSystem } from '../tool-system.ts'
import type { InitialStates } from './initial-states.ts'
import { askJoined, type ListingCall } from './join.ts'
import type { Combination, GoalKind } from './kinds.ts'
import type { Question } from './questions.ts'
import {
  isNaming,
  isSayable,
  isUnique,
  readResult,
  saidOfRecord,
  sayableKeys,
  type Table,
  tableAt,
  tablesIn,
} from './tables.ts'
import { fieldWords } from '../request/asked-words.ts'

/** A call of the reference solution. */
export interface PlannedCall {
  tool: string
  arguments: Record<string, unknown>
  /** An argument whose value is taken from an earlier result. */
  found?: { argument: string; inList: boolean; call: number; find(text: string): unknown }
  /** What a demonstration says before the call. Default: nothing. */
  thought?: string | ((results: readonly string[]) => string | undefined)
}

/** A plan before it is run. */
export interface GoalDraft {
  seeds: StateCall[]
  calls: PlannedCall[]
  /** The steps as the request states them. */
  steps: RequestStep[]
  /** For each step, the call that carries it out; null for the branch that is not taken. */
  callOf: (number | null)[]
  /** What is asked, if the plan decides it. Default: something about the last result. */
  question?: Question
  /** The tools that it took, if it chose among those of its combination. */
  tools?: readonly AdmittedTool[]
}

/** What is known about a server when tasks are drafted. */
export interface GoalSources {
  creators: readonly AdmittedTool[]
  harvest: readonly PlainObject[]
  /** The states with which tasks begin where the server has records of its own. */
  initialStates: InitialStates
}

interface Drafting {
  split: Task['split']
  statement: GoalKind['statement']
  words: SplitWords
  random: Random
  sources: GoalSources
  recent: PlainObject[]
  known: readonly PlainObject[]
  /** Records that only the state of this task has. Empty where the server has none of its own. */
  fresh: readonly PlainObject[]
}

/**
 * Draws a plan of this kind. Plans with something to look up run the tool that shows it.
 *
 * @returns undefined if this draw has no plan.
 * @throws UnusableSchema if no arguments match a schema.
 */
export async function draftGoal(
  system: ToolSystem,
  kind: GoalKind,
  combination: Combination,
  split: Task['split'],
  sources: GoalSources,
  random: Random,
  options: StateCallOptions,
): Promise<GoalDraft | undefined> {
  // Hundreds are drawn one after the other, and a hostile pattern makes each of them long.
  await yieldToEventLoop()
  const drafting: Drafting = {
    split,
    statement: kind.statement,
    words: wordsOf(split),
    random,
    sources,
    recent: [],
    known: sources.harvest,
    fresh: [],
  }
  const seeds = await seedState(kind, combination, drafting)
  if (kind.build === 'changes' || kind.build === 'question') return planCalls(seeds, combination, drafting)
  if (kind.build === 'chain') return planChain(seeds, combination, drafting)
  if (kind.build === 'join') return planJoin(system, seeds, combination, drafting, options)
  const { lister } = combination
  if (lister === undefined) return undefined
  const state = newState(seeds)
  const shown = await system.call(state, lister.spec.name, {}, options)
  if (shown.isError) return undefined
  const table = pickTable(shown.text, drafting)
  if (table === undefined) return undefined
  drafting.known = recordsIn(readResult(shown.text))
  return kind.build === 'look-up'
    ? planLookUp(seeds, combination, lister, table, drafting, system.ignore)
    : planCondition(seeds, combination, lister, table, drafting, system.ignore)
}

/** Calls that prepare the state: of a server without records of its own, more of them where a list is asked about. */
async function seedState(
  { form, build }: GoalKind,
  { tools }: Combination,
  drafting: Drafting,
): Promise<StateCall[]> {
  const { sources, split, random, words, recent } = drafting
  const { creators, harvest } = sources
  if (isFilled(harvest)) {
    const { seeds, fresh } = await sources.initialStates(split, random)
    drafting.fresh = fresh
    return [...seeds]
  }
  if (creators.length === 0) return []
  const listed = (form !== undefined && form !== 'fact') || build === 'look-up' || build === 'condition'
  const creates = creators.includes(tools[0])
  const count = listed ? 2 + random.int(2) : creates ? random.int(2) : random.next() < 0.65 ? 1 : 2
  return Array.from({ length: count }, () => {
    const { spec } = random.pick(creators)
    const args = seedArguments(spec.inputSchema, { random, words, known: harvest })
    recent.push(...recordsIn(args))
    return { name: spec.name, arguments: args }
  })
}

/** How often a call is about what only this state has, where it has such records: those cannot be known by heart. */
const freshShare = 0.6

function drawArguments(
  tool: AdmittedTool,
  { random, words, sources, recent, known, fresh, statement }: Drafting,
  anchor?: string,
) {
  const some = known.length + recent.length > 0
  const creates = sources.creators.includes(tool)
  const onlyFresh = fresh.length > 0 && random.next() < freshShare
  return sampleArguments(tool.spec.inputSchema, {
    random,
    words,
    known: onlyFresh ? fresh : known,
    recent,
    reuse: !creates && some && random.next() < 0.95,
    changes: tool.kind !== 'read',
    wants: statement ?? (tool.kind === 'read' ? 'reads' : 'changes'),
    ...defined({ always: anchor }),
  })
}

function planCalls(seeds: StateCall[], { tools, anchor }: Combination, drafting: Drafting): GoalDraft {
  const calls = tools.map((tool, index): PlannedCall => {
    const args = drawArguments(tool, drafting, index === tools.length - 1 ? anchor : undefined)
    if (tool.kind === 'write') drafting.recent.push(...recordsIn(args))
    return { tool: tool.spec.name, arguments: args }
  })
  return { seeds, calls, steps: calls.map(stepOf), callOf: calls.map((_, index) => index) }
}

function stepOf({ tool, arguments: args }: PlannedCall): RequestStep {
  return { tool, arguments: args }
}

/** The result of the first call is an argument of the second. `runGoal` fills it in. */
function planChain(seeds: StateCall[], combination: Combination, drafting: Drafting): GoalDraft | undefined {
  const { linked } = combination
  if (linked === undefined) return undefined
  const draft = planCalls(seeds, combination, drafting)
  const last = draft.calls[draft.calls.length - 1]
  const args = linked in last.arguments ? last.arguments : { ...last.arguments, [linked]: '' }
  // The linked value is not drawn, so it does not tell two plans apart.
  const call = { ...last, arguments: { ...args, [linked]: '' } }
  const steps = [...draft.steps.slice(0, -1), { tool: last.tool, arguments: args, linked }]
  return { ...draft, calls: [...draft.calls.slice(0, -1), call], steps }
}

/** Calls that are drawn of each tool of a join. */
const joinDraws = 5

/** Two lists, of which the first says which record of the second is asked about. The question needs no other words. */
async function planJoin(
  system: ToolSystem,
  seeds: StateCall[],
  { tools }: Combination,
  drafting: Drafting,
  options: StateCallOptions,
): Promise<GoalDraft | undefined> {
  const { random } = drafting
  const state = newState(seeds)
  const listings: (ListingCall & { by: AdmittedTool })[] = []
  for (const by of tools)
    for (let draw = 0; draw < joinDraws; draw++) {
      const args = drawArguments(by, drafting)
      const { text, isError } = await system.call(state, by.spec.name, args, options)
      if (!isError) listings.push({ by, arguments: args, text })
    }
  const pairs = listings.flatMap((one) => listings.map((other) => [one, other] as const))
  for (const pair of random.shuffle(pairs)) {
    const joined = askJoined(...pair, system.ignore, random)
    if (joined === undefined) continue
    const { question, link } = joined
    const calls = pair.map(({ by, arguments: args }, at): PlannedCall => {
      const call = { tool: by.spec.name, arguments: { ...args } }
      return at === 0 ? call : { ...call, thought: link }
    })
    return {
      seeds,
      calls,
      steps: calls.map((call) => ({ ...stepOf(call), silent: true })),
      callOf: calls.map((_, index) => index),
      question,
      tools: pair.map(({ by }) => by),
    }
  }
  return undefined
}

function pickTable(text: string, { random }: Drafting): Table | undefined {
  const tables = tablesIn(readResult(text), '')
  return tables.length === 0 ? undefined : random.pick(tables)
}

/** Arguments that a request could describe instead of stating: a text, or a list of one text. */
function singleValues(
  args: Readonly<Record<string, unknown>>,
): { argument: string; inList: boolean; value: string | number }[] {
  return Object.entries(args).flatMap(([argument, value]) => {
    const [item, ...more] = Array.isArray(value) ? (value as unknown[]) : [value]
    const plain = (typeof item === 'string' || typeof item === 'number') && more.length === 0
    return plain ? [{ argument, inList: Array.isArray(value), value: item }] : []
  })
}

/** A call whose argument is described by another property of the same record: "the contact whose email is x". */
function planLookUp(
  seeds: StateCall[],
  { tools: [tool] }: Combination,
  lister: AdmittedTool,
  table: Table,
  drafting: Drafting,
  ignore: readonly string[],
): GoalDraft | undefined {
  const { random } = drafting
  const args = drawArguments(tool, { ...drafting, recent: [] })
  const stated = JSON.stringify(args)
  const keys = Object.keys(table.records[0])
  const options = singleValues(args).flatMap(({ argument, inList, value }) =>
    keys.flatMap((key) => {
      const record = table.records.find((one) => one[key] === value)
      const ways = sayableKeys(table, ignore).filter(
        (by) =>
          by !== key &&
          isUnique(table, by) &&
          !stated.includes(String(record?.[by])) &&
          typeof record?.[by] !== 'boolean',
      )
      return record === undefined || !isUnique(table, key)
        ? []
        : ways.map((by) => ({ argument, inList, key, by, wanted: record[by] }))
    }),
  )
  if (options.length === 0) return undefined
  const { argument, inList, key, by, wanted } = random.pick(options)
  const recordIn = (text = ''): PlainObject | undefined =>
    tableAt(text, table).find((record) => record[by] === wanted)
  const thought = ([text]: readonly string[]): string | undefined => {
    const record = recordIn(text)
    return record === undefined ? undefined : saidOfRecord(record, by, key)
  }
  const noun = table.noun
  const words = `the ${noun} ${random.pick(['whose', 'with the'])}`
  const described = words.endsWith('whose')
    ? `${words} ${fieldWords(by, noun)} is ${String(wanted)}`
    : `${words} ${fieldWords(by, noun)} ${String(wanted)}`
  return {
    seeds,
    calls: [
      { tool: lister.spec.name, arguments: {} },
      {
        tool: tool.spec.name,
        arguments: args,
        found: { argument, inList, call: 0, find: (text) => recordIn(text)?.[key] },
        thought,
      },
    ],
    steps: [{ tool: tool.spec.name, arguments: args, references: { [argument]: described } }],
    callOf: [1],
  }
}

/** "If the type of the entity copper is lake, delete it. Otherwise ...": true in half of the tasks. */
function planCondition(
  seeds: StateCall[],
  { tools: [yes, no] }: Combination,
  lister: AdmittedTool,
  table: Table,
  drafting: Drafting,
  ignore: readonly string[],
): GoalDraft | undefined {
  const { random, words } = drafting
  const keys = sayableKeys(table, ignore)
  const naming = keys.filter((key) => isNaming(key) && isUnique(table, key))
  if (naming.length === 0) return undefined
  const by = random.pick(naming)
  const others = keys.filter((key) => key !== by && !isNaming(key))
  if (others.length === 0) return undefined
  const of = random.pick(others)
  const record = random.pick(table.records)
  const holds = random.next() < 0.5
  const value = record[of]
  // Another value that the property has somewhere, where one is known: a strange one would be easily told apart.
  const known = [...table.records, ...drafting.sources.harvest]
    .map((one) => one[of])
    .filter((one) => typeof one === typeof value && one !== value && isSayable(one))
  const other =
    typeof value === 'number'
      ? value + 1 + random.int(5)
      : known.length > 0
        ? random.pick(known)
        : `${random.pick(words.traits)} ${random.pick(words.nouns)}`
  const stated = holds ? value : typeof value === 'boolean' ? !value : other
  if (!isSayable(stated) || (stated === value) !== holds) return undefined
  const { noun } = table
  const condition = `the ${fieldWords(of, noun)} of the ${noun} ${String(record[by])} is ${String(stated)}`
  const branches = [yes, no].map((tool): PlannedCall => ({
    tool: tool.spec.name,
    arguments: drawArguments(tool, drafting),
  }))
  if (JSON.stringify(branches[0]) === JSON.stringify(branches[1])) return undefined
  // Finding the value, deciding and acting are easier to learn one after the other.
  const thought = `${saidOfRecord(record, by, of)}, ${holds ? 'yes' : 'no'}`
  return {
    seeds,
    calls: [
      { tool: lister.spec.name, arguments: {} },
      { ...branches[holds ? 0 : 1], thought },
    ],
    steps: [
      { ...stepOf(branches[0]), condition },
      { ...stepOf(branches[1]), condition: 'otherwise' },
    ],
    callOf: holds ? [1, null] : [null, 1],
  }
}

/** Fills what was found in earlier results into the arguments of a call; undefined if it is not there. */
export function argumentsOf(
  { arguments: args, found }: PlannedCall,
  results: readonly string[],
): Record<string, unknown> | undefined {
  if (found === undefined) return args
  const value = found.find(results[found.call] ?? '')
  if (value === undefined) return undefined
  return { ...args, [found.argument]: found.inList ? [value] : value }
}

/** Identifies the calls, arguments and initial state of a plan. */
export function planKey({ seeds, calls }: GoalDraft): string {
  return JSON.stringify([
    seeds.map(({ name, arguments: args }) => [name, args]),
    calls.map(({ tool, arguments: args }) => [tool, args]),
  ])
}
