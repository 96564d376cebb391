import { createRandom } from '../../engine/random/index.ts'
import type { Random } from '../../engine/random/index.ts'
import type { EpisodeLimits } from '../agent/episode-state.ts'
import type { Expert, Task, ToolEnvironment } from '../agent/types.ts'
import type { ToolSpec } from '../tool/tool.ts'
import { wilsonInterval } from '../../statistics/statistics.ts'
import type { Estimate } from '../../statistics/statistics.ts'
import { call, playScripts, say, script } from './scripts.ts'
import type { Results, Step } from './scripts.ts'
import { fillArguments, valuesIn, wordsIn } from './values.ts'

/** What a cheating agent is made from: all that any agent sees. */
export interface CheatContext {
  task: Pick<Task, 'prompt'>
  tools: readonly ToolSpec[]
  random: Random
  /** Calls that it may make. */
  calls: number
}

/** Agents that solve no task on purpose. How often they succeed is how often success means nothing. */
export type CheatName = 'do nothing' | 'always refuse' | 'any string seen' | 'every tool once'

/** The values of the request and of the results so far. */
export const seenBy = ({ task }: Pick<CheatContext, 'task'>, results: Results): string[] => [
  ...new Set([...results.flatMap(({ text }) => valuesIn(text)), ...wordsIn(task.prompt)]),
]

/** Tools that show something without being asked for anything come first: their results are arguments of the others. */
export function exploringTools(tools: readonly ToolSpec[]): ToolSpec[] {
  const rank = ({ inputSchema, annotations, name }: ToolSpec): number =>
    (Array.isArray(inputSchema['required']) ? inputSchema['required'].length : 0) -
    (annotations?.readOnlyHint === true ? 2 : 0) -
    (/^(list|show|get|read|find|search|look|export|view)/i.test(name) ? 1 : 0)
  return tools.toSorted((a, b) => rank(a) - rank(b))
}

/** A call of the tool with values that were seen. */
export const callWithSeen =
  (tool: ToolSpec, context: Pick<CheatContext, 'task' | 'random'>, like?: Record<string, unknown>): Step =>
  (results) =>
    call(
      tool.name,
      fillArguments(tool.inputSchema, {
        random: context.random,
        values: seenBy(context, results),
        ...(like && { like }),
      }),
    )

/**
 * The agents that task generation and `agoge audit` measure: each gives the script of one episode.
 *
 * @example const script = cheatingAgents['always refuse'](context)
 */
export const cheatingAgents: Readonly<Record<CheatName, (context: CheatContext) => Expert>> = {
  'do nothing': () => script([], say('done')),
  'always refuse': () => script([], say('This cannot be done.')),
  'any string seen'(context) {
    const steps = exploringTools(context.tools)
      .slice(0, Math.min(4, context.calls))
      .map((tool) => callWithSeen(tool, context))
    return script(steps, (results) => say(context.random.pick(seenBy(context, results))))
  },
  'every tool once'(context) {
    const steps = exploringTools(context.tools)
      .slice(0, context.calls)
      .map((tool) => callWithSeen(tool, context))
    return script(steps, say('done'))
  },
}

/** How often a cheating agent succeeds in the tasks of a kind. */
export interface CheatRate extends Estimate {
  /** What guessing may give, as the kind states. */
  chance: number
}

/** Settings of `cheatRates`. Default: seed 0, and limits of 6 turns, 120 s per episode and 20 s per call. */
export interface CheatOptions {
  seed?: number
  limits?: Partial<EpisodeLimits>
  signal?: AbortSignal
}

/** Limits of an episode where an environment gives none. */
export const usualLimits: EpisodeLimits = { turns: 6, deadlineSeconds: 120, toolDeadlineSeconds: 20 }

/**
 * Lets every cheating agent play the tasks once.
 *
 * @returns the success rate by agent and kind, masked episodes left out, with 95% Wilson intervals.
 * @example const rates = await cheatRates(environment, tasks)
 */
export async function cheatRates(
  environment: ToolEnvironment,
  tasks: readonly Task[],
  { seed = 0, limits: given, signal }: CheatOptions = {},
): Promise<Record<CheatName, Record<string, CheatRate>>> {
  const limits = { ...usualLimits, ...given }
  const rates: Partial<Record<CheatName, Record<string, CheatRate>>> = {}
  for (const [name, scriptOf] of Object.entries(cheatingAgents)) {
    const plays = tasks.map((task, at) => {
      const random = createRandom(seed, 'cheat', name, at)
      const tools = environment.tools
      return { task, script: scriptOf({ task, tools, random, calls: limits.turns - 1 }) }
    })
    const watched = await playScripts(environment, plays, { limits, ...(signal && { signal }) })
    const kinds = [...new Set(tasks.map(({ kind }) => kind))]
    rates[name as CheatName] = Object.fromEntries(
      kinds.map((kind) => {
        const own = watched.filter(({ episode }) => episode.kind === kind && episode.success !== null)
        const chance = tasks.find((task) => task.kind === kind)?.chance ?? 0
        const successes = own.filter(({ episode }) => episode.success).length
        return [kind, { ...wilsonInterval(successes, own.length), chance }]
      }),
    )
  }
  return rates as Record<CheatName, Record<string, CheatRate>>
}
