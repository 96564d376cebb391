import { hash32 } from '../../../../engine/random/index.ts'
import type { Task } from '../../../agent/types.ts'
import { AgogeError } from '../../../../error.ts'
import { InfrastructureError } from '../../../tool/tool.ts'
import type { McpTask } from '../mcp-task.ts'
import { newState, type StateCallOptions } from '../server/state-pool.ts'
import type { ToolSystem } from '../tool-system.ts'
import { provesItself } from './make-task.ts'
import { createTaskBank, type GeneratedTasks } from './task-bank.ts'
import { type FileTask, fromFileTask } from './task-file.ts'

interface OwnOptions extends StateCallOptions {
  /** Numbers of tasks that are wanted. With training tasks, those without a split are dealt out. */
  counts: Partial<Record<Task['split'], number>>
  onTask?: (task: McpTask) => void
}

/**
 * Proves the tasks of a file. A reference is run in a fresh state: it must solve the task, and gives the state or the
 * answer that the file leaves out. A task without a reference is only tried and tested, as it has no demonstration.
 *
 * @throws AgogeError `bad-tasks` if none can be used.
 */
export async function proveOwnTasks(
  system: ToolSystem,
  lines: readonly FileTask[],
  { counts, onTask, signal }: OwnOptions,
): Promise<GeneratedTasks> {
  const bank = new Map<Task['split'], McpTask[]>()
  const refused: { id: string; reason: string }[] = []
  for (const [index, line] of lines.entries()) {
    const split = line.split ?? ((counts.train ?? 0) > 0 ? splitOf(line.id) : 'test')
    const task = await proveOwn(
      system,
      fromFileTask({ ...line, split }, index),
      signal === undefined ? {} : { signal },
    )
    if (typeof task === 'string') {
      refused.push({ id: line.id, reason: task })
      continue
    }
    // A task without a reference cannot be shown, so it is no task of training.
    if (task.split === 'train' && task.reference === undefined) {
      refused.push({
        id: line.id,
        reason: 'a task of training needs a "reference" to show; give it, or "split": "test"',
      })
      continue
    }
    bank.set(task.split, [...(bank.get(task.split) ?? []), task])
    onTask?.(task)
  }
  const all = [...bank.values()].flat()
  if (all.length === 0)
    throw new AgogeError('no task of the file can be used', {
      code: 'bad-tasks',
      given: refused.map(({ id, reason }) => `${id}: ${reason}`).join('\n'),
      expected: 'tasks whose reference solves them',
    })
  const trained = bank.get('train') ?? []
  const kinds = [...new Set((trained.length > 0 ? trained : all).map(({ kind }) => kind))]
  return createTaskBank(bank, { kinds, refused })
}

function splitOf(id: string): Task['split'] {
  const bucket = hash32('own-task', id) % 10
  return bucket < 7 ? 'train' : bucket === 7 ? 'validation' : 'test'
}

/** The task with what its reference gives, or why it cannot be used. */
async function proveOwn(
  system: ToolSystem,
  task: McpTask,
  options: StateCallOptions,
): Promise<McpTask | string> {
  const names = new Set(system.tools.map(({ spec }) => spec.name))
  for (const { name } of [...task.seeds, ...(task.reference ?? [])])
    if (!names.has(name)) return `the server has no tool "${name}" that may run`
  if (task.reference === undefined)
    return task.expected.answer === null && task.expected.state === null
      ? 'nothing is expected: give an "answer", a "state" or a "reference"'
      : task
  const state = newState(task.seeds)
  try {
    const before = await system.observe(state, options.signal)
    for (const { name, arguments: args } of task.reference) {
      const result = await system.call(state, name, args, options)
      if (result.isError) return `its reference failed: ${name}: ${result.text}`
    }
    const after = await system.observe(state, options.signal)
    const changes = after !== before
    const proved: McpTask = {
      ...task,
      context: { ...task.context, changes },
      expected: { ...task.expected, state: task.expected.state ?? after },
    }
    if (!changes && task.expected.answer === null)
      return 'its reference changes nothing that is observed, and no answer is expected'
    return (await provesItself(system, proved, options.signal)) ? proved : 'its reference does not solve it'
  } catch (error) {
    if (options.signal?.aborted === true || !(error instanceof InfrastructureError)) throw error
    return error.message
  }
}
