import { AgogeError } from '../../../../error.ts'
import type { Task, TaskSource } from '../../../agent/types.ts'
import type { McpTask } from '../mcp-task.ts'

export interface GeneratedTasks extends TaskSource<McpTask> {
  heldOut(split: Task['split'], count: number): McpTask[]
  /** All tasks of a split. */
  all(split: Task['split']): readonly McpTask[]
  /** Kinds that only tests have. */
  readonly heldOutKinds: readonly string[]
  /** Tasks of a file that cannot be used, with the reason. */
  readonly refused: readonly { id: string; reason: string }[]
  /** Kinds without a task in a split, although enough tasks were requested for all kinds. */
  readonly missing: readonly { split: Task['split']; kinds: readonly string[] }[]
}

interface BankOptions
  extends
    Pick<GeneratedTasks, 'kinds'>,
    Partial<Pick<GeneratedTasks, 'heldOutKinds' | 'missing' | 'refused'>> {
  /** The order in which held-out tasks are taken. Default: kinds take turns. */
  order?: (tasks: readonly McpTask[]) => McpTask[]
}

/** Proved tasks as a source of tasks. */
export function createTaskBank(
  bank: ReadonlyMap<Task['split'], readonly McpTask[]>,
  { kinds, heldOutKinds = [], missing = [], refused = [], order = rowsInTurn }: BankOptions,
): GeneratedTasks {
  return {
    kinds,
    heldOutKinds,
    missing,
    refused,
    all: (split) => bank.get(split) ?? [],
    heldOut: (split, count) => order(bank.get(split) ?? []).slice(0, count),
    task({ split, seed, kind }) {
      const tasks = (bank.get(split) ?? []).filter((task) => kind === undefined || task.kind === kind)
      if (tasks.length === 0)
        throw new AgogeError(
          `no ${split} task${kind === undefined ? '' : ` of the kind "${kind}"`} was made`,
          {
            code: 'no-tasks',
            given: kind ?? split,
            expected: `one of the kinds ${kinds.join(', ')}`,
          },
        )
      return tasks[((seed % tasks.length) + tasks.length) % tasks.length]
    },
  }
}

/** Interleaves the tasks by kind. A kind that has no more leaves its turns to the others. */
export function rowsInTurn(tasks: readonly McpTask[]): McpTask[] {
  const rows = [...new Set(tasks.map(({ kind }) => kind))].map((kind) =>
    tasks.filter((task) => task.kind === kind),
  )
  const most = Math.max(0, ...rows.map((row) => row.length))
  return Array.from({ length: most }, (_, at) => rows.flatMap((row) => row.slice(at, at + 1))).flat()
}
