import type { Task, TaskSource } from '../agent/types.ts'

// Apart from earlier rounds, which development has looked at.
const firstRound = 4_000_000

/** The first `count` held-out tasks of a split (fewer where it has fewer), families in turn: the same for every run and model. */
export function heldOutTasks<T extends Task>(
  source: TaskSource<T>,
  split: Task['split'],
  count: number,
): T[] {
  if (source.heldOut !== undefined) return source.heldOut(split, count)
  const { kinds } = source
  return Array.from({ length: count }, (_, at) =>
    source.task({ split, seed: firstRound * kinds.length + at, kind: kinds[at % kinds.length] }),
  )
}
