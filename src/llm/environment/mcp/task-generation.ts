import { defined } from '../../../defined.ts'
import type { Task } from '../../agent/types.ts'
import { AgogeError } from '../../../error.ts'
import type { GoalKind } from './goals/kinds.ts'
import { proveOwnTasks } from './goals/own-tasks.ts'
import { createTaskBank, type GeneratedTasks, rowsInTurn } from './goals/task-bank.ts'
import type { FileTask } from './goals/task-file.ts'
import { isGuessable, prepareMaker, type TaskMaker } from './goals/task-maker.ts'
import { type McpTask, planOf } from './mcp-task.ts'
import type { Probe } from './profile/tool-probing.ts'
import { listReasons } from './safety.ts'
import type { ToolSystem } from './tool-system.ts'

/** Splits in the order in which they are made. */
const splits = ['train', 'validation', 'test', 'unseen-paraphrase'] as const

/** Number of tasks to make for each split. */
export type TaskCounts = Partial<Record<Task['split'], number>>

/** The splits of `count` tasks: most for training, and some of each other split. */
export function splitCounts(count: number): Required<TaskCounts> {
  const test = Math.max(1, Math.round(count * 0.25))
  const validation = Math.round(count * 0.1)
  const unseen = Math.round(count * 0.1)
  return {
    train: Math.max(1, count - test - validation - unseen),
    validation,
    test,
    'unseen-paraphrase': unseen,
  }
}

export interface TaskGenerationOptions {
  seed: number
  counts: TaskCounts
  /** Reference solutions that run at the same time. Default: 8. */
  concurrency?: number
  /** Seconds that a call may take; slower tools are left out. Default: 3. */
  deadlineSeconds?: number | undefined
  /** Advice in the error if no task can be made. Default: none. */
  hint?: string | undefined
  onProgress?: (done: number, total: number) => void
  /** Receives each task as soon as it is proved. */
  onTask?: (task: McpTask) => void
  /** Uses these tasks of a file instead of generating any. Their references are run. */
  own?: readonly FileTask[] | undefined
  signal?: AbortSignal | undefined
}

/**
 * Makes tasks and checks each. Its reference solution runs in a fresh state, which gives the expected result. Then its
 * plan runs again as an agent would run it, and must succeed. The same seed on the same system gives the same tasks.
 * Test, validation and unseen-paraphrase contain no request twice, none from training, and the same calls at most 10 times, so a
 * kind with few requests may have few or none left for them.
 *
 * @throws AgogeError if no tool can be used in a task, or a split other than unseen-paraphrase is empty.
 */
export async function generateTasks(
  system: ToolSystem,
  probe: Probe,
  options: TaskGenerationOptions,
): Promise<GeneratedTasks> {
  const { own } = options
  if (own !== undefined) return proveOwnTasks(system, own, options)
  const { kinds } = probe
  // The same seed on the same system gives the same tasks, in whatever order they are made.
  system.knowledge.settle()
  if (kinds.length === 0) {
    const reasons = listReasons(probe.leftOut)
    throw new AgogeError(`no task can be made from the tools of "${system.name}"\n${reasons}`, {
      code: 'no-tasks',
      given: probe.leftOut.map(({ name }) => name).join(', '),
      expected: 'at least one tool whose arguments can be made up and whose result is short and repeatable',
      ...defined({ hint: options.hint }),
    })
  }
  let shown = 0
  const maker = await prepareMaker(system, probe, {
    ...options,
    // The first task of each kind is one of training, if there is room for it.
    onTask: (task) => {
      if (shown++ < (options.counts.train ?? 0)) options.onTask?.(task)
    },
  })
  const all = maker.kinds
  const total = Object.values(options.counts).reduce((sum, count) => sum + count, 0)
  const bank = new Map<Task['split'], McpTask[]>()
  const taken = new Set<string>()
  const ofPlan = new Map<string, number>()
  let before = 0
  // In the order of the splits, so that training keeps a request that two splits would share.
  for (const split of splits) {
    const count = options.counts[split] ?? 0
    const tasks: McpTask[] = split === 'train' ? distinct(maker.first).slice(0, count) : []
    for (const { prompt } of tasks) taken.add(prompt)
    bank.set(split, tasks)
    // Duplicate requests are replaced by further draws. If no new ones exist, the split has fewer tasks.
    for (let from = 0, idle = 0; tasks.length < count && from < 4 * count + 32 && idle < 3;) {
      const size = Math.min(roundSize, Math.max(count - tasks.length, 8))
      const round = await makeTasks(maker, split, from, size, (done) =>
        options.onProgress?.(Math.min(before + tasks.length + done, total), total),
      )
      from += size
      const had = tasks.length
      for (const task of round) {
        if (task === undefined || tasks.length === count || taken.has(task.prompt)) continue
        const plan = `${split} ${task.kind} ${planOf(task)}`
        const same = ofPlan.get(plan) ?? 0
        if (split !== 'train' && same === mostOfPlan) continue
        ofPlan.set(plan, same + 1)
        tasks.push(task)
        taken.add(task.prompt)
        options.onTask?.(task)
      }
      idle = tasks.length === had ? idle + 1 : 0
    }
    before += count
  }
  const wanted = splits.filter((split) => (options.counts[split] ?? 0) > 0)
  for (const split of wanted)
    if (split !== 'unseen-paraphrase' && bank.get(split)?.length === 0)
      throw noTasks(system, split, options.hint)
  const kindsIn = (split: Task['split']): string[] => {
    const found = new Set(bank.get(split)?.map((task) => task.kind))
    return all.map(({ name }) => name).filter((name) => found.has(name))
  }
  const regular = all.filter((kind) => !kind.heldOut)
  const heldOutKinds = all.filter((kind) => kind.heldOut).map(({ name }) => name)
  // Only trained kinds are tested; without training, all kinds are.
  const present = wanted.includes('train')
    ? kindsIn('train')
    : all.map(({ name }) => name).filter((name) => wanted.some((split) => kindsIn(split).includes(name)))
  return createTaskBank(bank, {
    kinds: present,
    heldOutKinds,
    order: (tasks) => inTurn(all, present, tasks),
    missing: wanted
      // With fewer tasks than kinds some kinds are left out by intention.
      .filter((split) => (options.counts[split] ?? 0) >= regular.length)
      .map((split) => ({ split, found: kindsIn(split) }))
      .map(({ split, found }) => ({
        split,
        kinds: regular.map(({ name }) => name).filter((name) => !found.includes(name)),
      }))
      .filter(({ kinds }) => kinds.length > 0),
  })
}

/** Most held-out tasks that ask for the same calls in other words: more of them would measure one thing many times. */
const mostOfPlan = 10

/**
 * Interleaves the tasks by kind. A kind that has no more leaves its turns to the others. Kinds that can be guessed, and
 * those of which there was no training, keep their small share.
 */
function inTurn(
  kinds: readonly GoalKind[],
  present: readonly string[],
  tasks: readonly McpTask[],
): McpTask[] {
  const rare = new Set(kinds.filter((kind) => isGuessable(kind) || kind.heldOut).map(({ name }) => name))
  const allowed = new Set([...present, ...kinds.filter((kind) => kind.heldOut).map(({ name }) => name)])
  const some = tasks.filter(({ kind }) => allowed.has(kind))
  const usual = rowsInTurn(some.filter(({ kind }) => !rare.has(kind)))
  const others = rowsInTurn(some.filter(({ kind }) => rare.has(kind)))
  if (usual.length === 0) return others
  return usual.flatMap((task, at) =>
    at % 7 === 6 ? [task, ...others.slice((at - 6) / 7, (at - 6) / 7 + 1)] : [task],
  )
}

function noTasks(system: ToolSystem, split: Task['split'], hint: string | undefined): AgogeError {
  return new AgogeError(`no ${split} task could be made from the tools of "${system.name}"`, {
    code: 'no-tasks',
    given:
      split === 'train'
        ? 'no request that could be proved'
        : 'every request that was found is one of training too',
    expected: 'tools whose arguments leave room for different requests',
    ...defined({ hint }),
  })
}

function distinct(tasks: readonly McpTask[]): McpTask[] {
  const prompts = tasks.map(({ prompt }) => prompt)
  return tasks.filter(({ prompt }, at) => prompts.indexOf(prompt) === at)
}

/** Tasks that are made before their requests are compared. */
const roundSize = 32

/**
 * Makes tasks number `from` to `from + size` of a split, several at a time. The result does not depend on how many run
 * at a time.
 */
async function makeTasks(
  maker: TaskMaker,
  split: Task['split'],
  from: number,
  size: number,
  onDone: (done: number) => void,
): Promise<(McpTask | undefined)[]> {
  const made: (McpTask | undefined)[] = Array.from({ length: size })
  let next = 0
  let done = 0
  const work = async (): Promise<void> => {
    while (next < size) {
      const at = next++
      made[at] = await maker.make(split, from + at)
      onDone(++done)
    }
  }
  await Promise.all(Array.from({ length: maker.concurrency }, work))
  return made
}

export type { GeneratedTasks }
