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
    for (let draw = 0; draw < mostDraws && tasks.length < trials; draw++) {
      const task = await tryTask(kind, kind.combinations[0], splits[draw % splits.length], -1000 - draw, draw)
      if (task !== undefined) tasks.push(task)
    }
    const different = new Set(tasks.map(({ reference }) => JSON.stringify(reference))).size
    if (different >= 2 && (await eachSolvesAll(system, tasks, options))) found.add(kind.name)
  }
  return found
}

/** Whether each task ends in its state after the calls of the next one. */
async function eachSolvesAll(
  system: ToolSystem,
  tasks: readonly McpTask[],
  options: StateCallOptions,
): Promise<boolean> {
  for (const [at, { seeds, expected }] of tasks.entries()) {
    const { reference = [] } = tasks[(at + 1) % tasks.length]
    const state = newState(seeds)
    try {
      for (const { name, arguments: args } of reference) await system.call(state, name, args, options)
      if ((await system.observe(state, options.signal)) !== expected.state) return false
    } catch (error) {
      if (options.signal?.aborted === true || !(error instanceof InfrastructureError)) throw error
      return false
    }
  }
  return true
}
