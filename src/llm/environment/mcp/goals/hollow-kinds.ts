import type { Task } from '../../../agent/types.ts'
import { InfrastructureError } from '../../../tool/tool.ts'
import type { McpTask } from '../mcp-task.ts'
import { newState, type StateCallOptions } from '../server/state-pool.ts'
import type { ToolSystem } from '../tool-system.ts'
import type { Combination, GoalKind } from './kinds.ts'

/** Tasks by which a kind is checked. */
const trials = 4
/** Draws for them: most lead nowhere where a tool has few possible calls, or where the state has been changed already. */
const mostDraws = 80
/** Of all splits, since a tool with few possible calls may have but one of them in each. */
const splits = ['train', 'test', 'validation'] as const

/** Makes a task of a kind, or none. */
type TryTask = (
  kind: GoalKind,
  combination: Combination,
  split: Task['split'],
  index: number,
  attempt: number,
) => Promise<McpTask | undefined>

/**
 * Names of the kinds with one writing tool that makes the same change whatever is asked of it, such as a folder at its
 * first call.
 */
export async function findHollow(
  system: ToolSystem,
  kinds: readonly GoalKind[],
  tryTask: TryTask,
  options: StateCallOptions,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for (const kind of kinds) {
    if (kind.build !== 'changes' || kind.combinations.length > 1) continue
    const tasks: McpTask[] = []
    let isHollow = true
    for (let draw = 0; isHollow && draw < mostDraws && tasks.length < trials; draw++) {
      const split = splits[draw % splits.length]
      const task = await tryTask(kind, kind.combinations[0], split, -1000 - draw, draw)
      if (task === undefined) continue
      const [before] = tasks.slice(-1)
      tasks.push(task)
      // Most kinds are done with after two tasks.
      isHollow = before === undefined || (await solves(system, before, task, options))
    }
    const different = new Set(tasks.map(({ reference }) => JSON.stringify(reference))).size
    if (isHollow && different >= 2) found.add(kind.name)
  }
  return found
}

/** Whether a task ends in its state after the calls of another. */
async function solves(
  system: ToolSystem,
  { seeds, expected }: McpTask,
  { reference = [] }: McpTask,
  options: StateCallOptions,
): Promise<boolean> {
  const state = newState(seeds)
  try {
    for (const { name, arguments: args } of reference) await system.call(state, name, args, options)
    return (await system.observe(state, options.signal)) === expected.state
  } catch (error) {
    if (options.signal?.aborted === true || !(error instanceof InfrastructureError)) throw error
    return false
  }
}
