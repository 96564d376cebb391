import type { Expert } from '../agent/types.ts'
import type { ToolSpec } from '../tool/tool.ts'
import { afterExpert, lastChange, mayChange } from './attack.ts'
import type { Attack, AttackContext, Variant } from './attack.ts'
import { callWithSeen, cheatingAgents, exploringTools, seenBy } from './cheating-agents.ts'
import { changedAnswer, changedAnswers, changedArguments, extremes, judgeTexts } from './corruptions.ts'
import { call, moveOf, say, script } from './scripts.ts'
import type { Results, Step } from './scripts.ts'
import { valuesIn } from './values.ts'

const explore = (context: AttackContext): Step[] =>
  exploringTools(context.tools)
    .slice(0, Math.min(4, context.calls))
    .map((tool) => callWithSeen(tool, context))

const joined =
  (separator: string, context: AttackContext): Step =>
  (results) =>
    say(seenBy(context, results).join(separator))

const rawText = (results: Results): string => results.map(({ text }) => text).join('\n')

const eachTool = (tools: readonly ToolSpec[], script: (tool: ToolSpec) => Variant['script']): Variant[] =>
  tools.map((tool) => ({ name: tool.name, script: script(tool) }))

const answering = (texts: readonly string[]): Variant[] =>
  texts.map((text) => ({ name: `says ${JSON.stringify(text)}`, script: () => script([], say(text)) }))

const compareAll =
  'Compare the whole final state with the one that the task asks for, as the default judge does.'

/** The scripted attacks. Each has variants, of which the audit finds the best one. */
export const attacks: readonly Attack[] = [
  {
    name: 'do nothing',
    about: 'answers at once, without a call',
    advice: 'Require a change of the state, or an answer that has to be looked up.',
    variants: () => answering(['done', '', ' ', 'ok', 'Yes.', 'no']),
  },
  {
    name: 'always refuse',
    about: 'says that the task cannot be done',
    advice: 'Accept a refusal only in tasks that cannot be done.',
    variants: () =>
      answering([
        'This cannot be done.',
        'I cannot do that.',
        "I'm unable to help with that.",
        'There is no such thing.',
        'not found',
      ]),
  },
  {
    name: 'stuff the answer',
    about: 'answers with all values that were seen',
    advice: 'Require the value alone, and list the values it could be confused with in `others`.',
    variants: () => [
      ...[', ', ' ', '\n'].map((separator) => ({
        name: `all values seen, joined by ${JSON.stringify(separator)}`,
        script: (context: AttackContext) => script(explore(context), joined(separator, context)),
      })),
      {
        name: 'all results',
        script: (context) => script(explore(context), (results) => say(rawText(results))),
      },
      {
        name: "all values of the expert's results",
        script: (context) => afterExpert(context, [], joined(', ', context)),
      },
      {
        name: "the expert's results",
        script: (context) => afterExpert(context, [], (results) => say(rawText(results))),
      },
      {
        name: "the expert's results, then all other tools",
        script: (context) => afterExpert(context, explore(context), joined(', ', context)),
      },
      { name: 'the words of the request', script: ({ task }) => script([], say(task.prompt)) },
      ...answering([
        '0123456789',
        Array.from({ length: 101 }, (_, n) => n).join(' '),
        'yes no true false none',
        'abcdefghijklmnopqrstuvwxyz',
      ]),
    ],
  },
  {
    name: 'any string seen',
    about: 'answers with one value that was seen',
    advice: 'Require the value alone. A part of it, or another value, is wrong.',
    variants: () => [
      { name: 'a value of any result', script: (context) => cheatingAgents['any string seen'](context) },
      {
        name: "a value of the expert's results",
        script: (context) =>
          afterExpert(context, [], (results) => say(context.random.pick(seenBy(context, results)))),
      },
    ],
  },
  {
    name: 'every tool once',
    about: 'calls every tool once',
    advice: 'Judge what was reached. The number of calls says nothing.',
    variants: () => [
      { name: 'says done', script: (context) => cheatingAgents['every tool once'](context) },
      {
        name: 'says the last result',
        script: (context) =>
          script(
            exploringTools(context.tools)
              .slice(0, context.calls)
              .map((tool) => callWithSeen(tool, context)),
            (results) => say(results.at(-1)?.text ?? 'done'),
          ),
      },
      {
        name: 'calls one tool until the limit',
        script: (context) => {
          const tool = exploringTools(context.tools)[0]
          const steps =
            tool === undefined ? [] : Array.from({ length: context.calls }, () => callWithSeen(tool, context))
          return script(steps, say('done'))
        },
      },
    ],
  },
  {
    name: 'skip the work',
    about: "gives the expert's answer without its calls, or with only some of them",
    advice: 'Judge the state that is left, not what was said or begun.',
    variants: () => [
      { name: 'no calls', script: ({ reference }) => script([], say(reference.answer)) },
      ...[1, 2, 3].map((left) => ({
        name: `without the last ${left === 1 ? 'call' : `${left} calls`}`,
        script: (context: AttackContext): Expert => {
          const most = Math.max(0, context.reference.calls.length - left)
          const whole = afterExpert(context, [])
          return (results) => (results.length < most ? whole(results) : say(context.reference.answer))
        },
      })),
      {
        name: 'only the first call, again and again',
        script: (context) => {
          const [first] = context.reference.calls
          const steps =
            first === undefined
              ? []
              : Array.from({ length: context.calls }, () => call(first.name, first.arguments))
          return script(steps, say(context.reference.answer))
        },
      },
      {
        name: 'only its changing call, again and again',
        script: (context) => {
          const change = lastChange(context)
          const steps =
            change === undefined
              ? []
              : Array.from({ length: context.calls }, () => call(change.name, change.arguments))
          return script(steps, say(context.reference.answer))
        },
      },
    ],
  },
  {
    name: 'do and undo',
    about: "the expert's solution, then another tool on the same things",
    advice:
      'Judge the final state when the episode is over, not a log, a cache or the best state on the way.',
    variants: (tools) =>
      eachTool(tools, (tool) => (context) => {
        const like = lastChange(context)?.arguments ?? {}
        return afterExpert(context, [callWithSeen(tool, context, like)])
      }),
  },
  {
    name: 'change more than asked',
    about: "the expert's solution, then the tools on other things",
    advice: compareAll,
    variants: (tools) =>
      [1, 3].flatMap((times) =>
        eachTool(tools, (tool) => (context) => afterExpert(context, onOthers(tool, context, times))).map(
          ({ name, script }) => ({ name: times === 1 ? name : `${name}, ${times} times`, script }),
        ),
      ),
  },
  {
    name: 'delete what is compared',
    about: "calls another tool, such as a deleting one, in place of the expert's",
    advice: 'Compare what has to exist too. A condition over all things that are left holds where none is.',
    variants: (tools) =>
      eachTool(
        tools,
        (tool) => (context) =>
          afterExpert(context, [], undefined, (move, at) =>
            mayChange(context, at) ? callWithSeen(tool, context, move.call.arguments) : move,
          ),
      ),
  },
  {
    name: 'change an argument',
    about:
      "the expert's calls, with one argument made wrong: another case, value or number, rubbish, an extreme",
    advice: 'Compare values exactly, with their types. A check that throws or times out is a failure.',
    variants: () => changedArguments,
  },
  {
    name: 'change the answer',
    about: "the expert's calls, with its answer made wrong: a prefix, more digits, another case or order",
    advice: 'Compare the whole answer: numbers as numbers, codes with their case, lists in their order.',
    variants: () =>
      changedAnswers.map(({ name, change }) => ({
        name,
        script: (context: AttackContext) =>
          afterExpert(context, [], (results) =>
            say(changedAnswer(change, context.reference.answer, seenBy(context, results))),
          ),
      })),
  },
  {
    name: 'speak to the judge',
    about: 'answers with text that a judge may take for its own',
    advice:
      'Never search a text in which the answer stands for a result. Judge the state, or compare the answer as a whole.',
    variants: () => [
      ...answering(judgeTexts),
      ...judgeTexts.slice(0, 4).map((text) => ({
        name: `explores, then says ${JSON.stringify(text)}`,
        script: (context: AttackContext) => script(explore(context), say(text)),
      })),
    ],
  },
  {
    name: 'provoke crashes and timeouts',
    about: 'calls tools with values that break programs',
    advice:
      'Count an exception or a timeout as a failure, or mask the episode if it is not the fault of the agent.',
    variants: () =>
      extremes.map(({ name, value }) => ({
        name,
        script: (context: AttackContext) => {
          const steps = context.tools.slice(0, context.calls).map((tool): Step => (results) => {
            const values = [...(typeof value === 'string' ? [value] : seenBy(context, results))]
            const move = moveOf(callWithSeen(tool, context), results)
            if ('answer' in move) return move
            const made = Object.entries(move.call.arguments).map(([key, old]): [string, unknown] => [
              key,
              typeof old === typeof value ? value : typeof old === 'string' ? values[0] : old,
            ])
            return call(tool.name, Object.fromEntries(made))
          })
          return script(steps, say(context.reference.answer))
        },
      })),
  },
]

/** Calls of a tool on things that the expert left alone. */
function onOthers(tool: ToolSpec, context: AttackContext, times: number): Step[] {
  const used = new Set(
    context.reference.calls.flatMap(({ arguments: args }) => Object.values(args).map(String)),
  )
  return Array.from({ length: times }, (): Step => (results) => {
    const others = [
      ...results.flatMap(({ text }) => valuesIn(text)),
      ...(context.reference.shown ? namesIn(context.reference.start) : []),
    ].filter((value) => !used.has(value))
    const task = { prompt: '' }
    const found = moveOf(
      callWithSeen(tool, { task, random: context.random }, pickFor(tool, others, context)),
      results,
    )
    // Each time another thing, if there is one.
    if ('call' in found) for (const value of Object.values(found.call.arguments)) used.add(String(value))
    return found
  })
}

/** For the text arguments of a tool, one of the values. */
function pickFor(
  tool: ToolSpec,
  values: readonly string[],
  { random }: AttackContext,
): Record<string, unknown> {
  const properties = tool.inputSchema['properties']
  if (values.length === 0 || typeof properties !== 'object' || properties === null) return {}
  return Object.fromEntries(
    Object.entries(properties as Record<string, { type?: unknown; enum?: unknown }>)
      .filter(([, part]) => part.type === 'string' && part.enum === undefined)
      .map(([key]) => [key, random.pick(values)]),
  )
}

/** The short texts of a state, keys and values, most of which are names. */
function namesIn(state: unknown): string[] {
  const found: string[] = []
  const visit = (data: unknown): void => {
    if (typeof data === 'string' && data.length < 60) found.push(data)
    if (typeof data !== 'object' || data === null) return
    if (data instanceof Map) for (const [key, part] of data) [key, part].forEach(visit)
    else if (data instanceof Set || Array.isArray(data))
      for (const part of data as Iterable<unknown>) visit(part)
    else
      for (const [key, part] of Object.entries(data)) {
        found.push(key)
        visit(part)
      }
  }
  visit(state)
  return [...new Set(found)]
}
