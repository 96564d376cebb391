import { defined } from '../../../../defined.ts'
import type { Random } from '../../../../engine/random/index.ts'
import type { Expert, Task } from '../../../agent/types.ts'
import { readScore } from '../../../episode/score.ts'
import { saysFailure } from '../arguments/error-hints.ts'
import type { McpTask } from '../mcp-task.ts'
import { tellsMoment, tellsTime, timelessLines } from '../profile/repeatable.ts'
import { linkedArguments } from '../reference.ts'
import type { Effect } from '../request/argument-words.ts'
import type { AdmittedTool } from '../safety.ts'
import { inNumber, isPlural } from '../request/inflect.ts'
import { couldMeanAnother } from '../request/could-mean-another.ts'
import { renderRequest } from '../request/request.ts'
import { rowNoun } from '../request/sql-words.ts'
import { type RequestStep, type Speech } from '../request/step-words.ts'
import { nameWords } from '../request/name-words.ts'
import { chooseSalient, containsWhole, extractSalient } from '../salient.ts'
import { createRandom, hash32 } from '../../../../engine/random/index.ts'
import { newState, type StateCallOptions } from '../server/state-pool.ts'
import { createSystemEnvironment, type ToolSystem } from '../tool-system.ts'
import { argumentsOf, type GoalDraft, type PlannedCall } from './draft-goal.ts'
import { effectOf } from './effect-of.ts'
import type { Combination, GoalKind } from './kinds.ts'
import { askAbout, type Question, saidAnswer } from './questions.ts'
import { hasValue } from './value.ts'

interface GoalRun {
  results: string[]
  calls: PlannedCall[]
  steps: RequestStep[]
  before: string | null
  after: string | null
}

/** Most words of a request of up to three steps, and for each step of a longer one. */
const mostWords = 60
const wordsOfStep = 20

/** What is new in requests worded as none of training: half of them have verbs and nouns that training never uses. */
const newness = ['new sentences', 'new words'] as const

/**
 * Runs the plan in a fresh state, asks about what it gave or changed, writes the request and proves the task: an expert
 * that carries out the plan succeeds, and one that does nothing does not. Undefined if there is nothing to ask.
 */
export async function makeGoalTask(
  system: ToolSystem,
  speech: Speech,
  {
    kind,
    combination,
    draft,
    split,
    random,
    id,
    index,
  }: {
    kind: GoalKind
    combination: Combination
    draft: GoalDraft
    split: Task['split']
    random: Random
    id: string
    index: number
  },
  options: StateCallOptions,
): Promise<McpTask | undefined> {
  const { tools = combination.tools } = draft
  const run = await runGoal(system, tools, draft, options)
  if (run === undefined) return undefined
  const request = JSON.stringify([
    run.steps.map((step) => [step.arguments, step.references, step.condition, nameWords(step.tool)]),
  ])
  const dated = tools.some((tool, at) => {
    const result = run.results[run.results.length - tools.length + at]
    return (
      tool.kind === 'read' && result !== undefined && tellsMoment(timelessLines(result, request), request)
    )
  })
  if (dated) return undefined
  const last = run.results[run.results.length - 1]
  const question =
    draft.question ??
    (kind.form === undefined ? undefined : ask(kind, last, request, speech, run, random, system))
  if (kind.form !== undefined && question === undefined) return undefined
  // Two tools may give the first line of different answers to the same request.
  if (question !== undefined && couldMeanAnother(speech, run.calls[run.calls.length - 1])) return undefined
  if (question?.asked.form === 'line' && tellsTime(question.expected.answer, request)) return undefined
  const final = run.steps[run.steps.length - 1]
  const steps = question === undefined ? run.steps : [...run.steps.slice(0, -1), { ...final, result: last }]
  const unseen = split === 'unseen-paraphrase' ? newness[hash32('paraphrase', index) % 2] : undefined
  const prompt = renderRequest(speech, steps, question?.asked, split, random, unseen === 'new words')
  if (prompt === undefined || prompt.split(/\s+/).length > Math.max(mostWords, wordsOfStep * steps.length))
    return undefined
  const { expected } = question ?? {}
  const isStated =
    expected !== undefined &&
    expected.type !== 'none' &&
    containsWhole(prompt.toLowerCase(), expected.answer.toLowerCase())
  // Only a result as a whole may repeat what the request says; anything else would need no look.
  const repeats =
    question !== undefined && ['whole', 'number', 'line', 'sentence'].includes(question.asked.form)
  const stated = isStated || (repeats && plainTexts(final.arguments).some((text) => last.includes(text)))
  if (isStated && !repeats) return undefined
  const task: McpTask = {
    id,
    kind: kind.name,
    seed: index,
    split,
    prompt,
    difficulty: Math.min(4, draft.calls.length + (/\},\{/.test(request) ? 1 : 0)),
    context: {
      tools: run.calls.map((call) => call.tool),
      ...(stated ? { stated } : {}),
      ...defined({ unseen }),
      changes: tools.some((tool) => tool.kind === 'write'),
    },
    ...(kind.chance > 0 ? { chance: kind.chance } : {}),
    plan: expertOf(run.calls, question),
    seeds: draft.seeds,
    reference: referenceOf(run),
    expected: {
      answer: expected?.answer ?? null,
      ...(expected === undefined ? {} : { type: expected.type }),
      others: [...(expected?.others ?? [])],
      ...(expected?.ordered && { ordered: true }),
      state: run.after,
    },
  }
  if (expected !== undefined && hasValue('', expected)) return undefined
  // Lines of a list may come in another order from another process.
  const proofs = question?.asked.form === 'line' ? 3 : 1
  for (let proof = 0; proof < proofs; proof++)
    if (!(await provesItself(system, task, options.signal))) return undefined
  return task
}

function plainTexts(args: Readonly<Record<string, unknown>>): string[] {
  return Object.values(args).filter((value): value is string => typeof value === 'string' && value.length > 3)
}

function ask(
  { form = 'fact' }: GoalKind,
  last: string,
  stated: string,
  speech: Speech,
  run: GoalRun,
  random: Random,
  system: ToolSystem,
): Question | undefined {
  const { tool, arguments: args } = run.calls[run.calls.length - 1]
  const object = speech.words.get(tool)?.object ?? ''
  // A "table schema" with several records has entries, which are no table schemas.
  const noun = rowNoun(args, random) ?? (isPlural(object.split(' ').at(-1) ?? '') ? object : '')
  const strange = `${random.pick(['zorro', 'quibble', 'marzipan', 'tundra', 'fjord'])} ${10 + random.int(90)}`
  return askAbout(last, form, {
    stated,
    noun: noun === '' ? '' : inNumber(noun, false),
    random,
    ignore: system.ignore,
    strange,
    orderedBy: orderOf(args),
  })
}

/** The column by which a statement in the arguments orders its rows. */
function orderOf(args: Readonly<Record<string, unknown>>): string | undefined {
  return Object.values(args)
    .map((value) => /\border by\W*(\w+)/i.exec(String(value))?.[1])
    .find((column) => column !== undefined)
}

async function runGoal(
  system: ToolSystem,
  tools: readonly AdmittedTool[],
  draft: GoalDraft,
  options: StateCallOptions,
): Promise<GoalRun | undefined> {
  const writes = new Set(system.tools.filter(({ kind }) => kind !== 'read').map(({ spec }) => spec.name))
  for (const tool of tools) if (tool.kind === 'read') writes.delete(tool.spec.name)
  const state = newState(draft.seeds)
  const before = await system.observe(state, options.signal)
  let now = before
  const results: string[] = []
  const effects: Effect[] = []
  const calls: PlannedCall[] = []
  const linkWords = new Map<number, string>()
  for (const [index, planned] of draft.calls.entries()) {
    const linked = draft.steps[draft.callOf.indexOf(index)]?.linked
    const link = linked === undefined ? undefined : linkCall(system, planned, linked, results)
    if (link?.words !== undefined) linkWords.set(index, link.words)
    const call = linked === undefined ? planned : link?.call
    const args = call === undefined ? undefined : argumentsOf(call, results)
    if (call === undefined || args === undefined) return undefined
    const result = await system.call(state, call.tool, args, options)
    // A server may say in plain words that it failed, such as to read what was just deleted.
    if (result.isError || saysFailure(result.text, args)) return undefined
    results.push(result.text)
    calls.push(call)
    if (!writes.has(call.tool)) {
      effects.push('reads')
      continue
    }
    const next = await system.observe(state, options.signal)
    // A step that changes nothing would be asked for in vain.
    if (next === now) return undefined
    effects.push(effectOf(now ?? '', next ?? ''))
    now = next
  }
  if (tools.some((tool) => tool.kind === 'write') && now === before) return undefined
  const known = new Map(calls.map((call, at) => [call.tool, effects[at]]))
  const steps = draft.steps.map((step, at) => {
    const call = draft.callOf[at]
    // The branch that is not taken reads as the other where it is the same tool.
    const effect =
      call === null ? (known.get(step.tool) ?? (writes.has(step.tool) ? 'changes' : 'reads')) : effects[call]
    const words = call === null ? undefined : linkWords.get(call)
    return { ...step, effect, ...defined({ linkWords: words }) }
  })
  return { results, calls, steps, before, after: now }
}

/** Takes an argument from the result before it, converted to the type that the tool expects. */
function linkCall(
  system: ToolSystem,
  planned: PlannedCall,
  linked: string,
  results: readonly string[],
): { call: PlannedCall; words: string | undefined } | undefined {
  const schema = system.tools.find(({ spec }) => spec.name === planned.tool)?.spec.inputSchema
  const last = results.at(-1)
  if (schema === undefined || last === undefined) return undefined
  const link = chooseSalient(last, '', createRandom('link', last), system.ignore)
  // A sentence is for a reader, not a value for another tool.
  if (link === undefined || link.kind === 'sentence') return undefined
  const find = (text: string): unknown => {
    const value = extractSalient(text, link)
    if (value === undefined) return undefined
    return linkedArguments({ ...planned, linked }, value, schema)?.[linked]
  }
  const words =
    link.kind === 'field' ? `the ${link.words}` : link.kind === 'line' ? `the ${link.which} line` : undefined
  return {
    call: { ...planned, found: { argument: linked, inList: false, call: results.length - 1, find } },
    words,
  }
}

/** The calls in order, later arguments taken from results, then the answer. */
function expertOf(calls: readonly PlannedCall[], question: Question | undefined): Expert {
  return (results) => {
    const texts = results.map(({ text }) => text)
    const call = calls[results.length]
    if (call === undefined) {
      return { answer: question === undefined ? 'done' : saidAnswer(question, texts.at(-1) ?? '') }
    }
    const thought = typeof call.thought === 'function' ? call.thought(texts) : call.thought
    return {
      call: { name: call.tool, arguments: argumentsOf(call, texts) ?? call.arguments },
      ...defined({ thought }),
    }
  }
}

function referenceOf({ calls, results }: GoalRun): { name: string; arguments: Record<string, unknown> }[] {
  return calls.map((call, at) => ({
    name: call.tool,
    arguments: argumentsOf(call, results.slice(0, at)) ?? call.arguments,
  }))
}

/** Runs the plan as an agent would and asks the judge. */
export async function provesItself(
  system: ToolSystem,
  task: McpTask,
  signal?: AbortSignal,
): Promise<boolean> {
  const session = await createSystemEnvironment(system).open(task, signal === undefined ? {} : { signal })
  const results: { text: string; isError: boolean }[] = []
  for (let turn = 0; turn < 8; turn++) {
    const move = task.plan(results)
    if ('answer' in move) {
      const outcome = { answer: move.answer, calls: results.length, invalidCalls: 0 }
      return readScore(await session.judge(outcome), task.id).value === 1
    }
    const result = await session.call(move.call.name, move.call.arguments)
    results.push({ text: result.text, isError: result.isError })
  }
  return false
}
