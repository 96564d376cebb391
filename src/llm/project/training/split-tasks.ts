import { sha256 } from '../../../runs/checksums.ts'
import { AgogeError } from '../../../error.ts'
import type { FileTask } from '../../environment/mcp/goals/task-file.ts'

/** The tasks of a config by what they are for. No task is in two of them. */
export interface TaskSplit {
  train: FileTask[]
  validation: FileTask[]
  test: FileTask[]
  /** True if the tasks say which split they belong to. */
  isMarked: boolean
}

/**
 * Splits tasks by their `split`. A task without one is a test task where others have one. If none has, each task is for training,
 * validation or test with probabilities of 60, 20 and 20 %, by a hash of its kind and id: so further tasks move none of the others. If no
 * task is marked for validation, a fifth of those for training is.
 *
 * @throws AgogeError `bad-tasks` if training, validation or test would have no task.
 * @example const { train, test } = splitTasks(tasks)
 */
export function splitTasks(tasks: readonly FileTask[]): TaskSplit {
  const isMarked = tasks.some(({ split }) => split !== undefined)
  const marked = (name: FileTask['split']): FileTask[] => tasks.filter(({ split = 'test' }) => split === name)
  const between = (of: readonly FileTask[], low: number, high: number): FileTask[] =>
    of.filter((task) => placeOf(task) >= low && placeOf(task) < high)
  const split = isMarked
    ? { train: marked('train'), validation: marked('validation'), test: marked('test') }
    : { train: between(tasks, 0, 0.6), validation: between(tasks, 0.6, 0.8), test: between(tasks, 0.8, 1) }
  if (isMarked && split.validation.length === 0) {
    split.validation = between(split.train, 0, 0.2)
    split.train = between(split.train, 0.2, 1)
  }
  const empty = (['train', 'validation', 'test'] as const).find((name) => split[name].length === 0)
  if (empty === undefined) return { ...split, isMarked }
  throw new AgogeError(`there is no task for ${empty === 'train' ? 'training' : empty}`, {
    code: 'bad-tasks',
    given: `${split.train.length} tasks for training, ${split.validation.length} for validation, ${split.test.length} for test`,
    expected: 'at least one of each, and about fifty for a result that shows something',
    hint: isMarked
      ? 'Mark tasks with "split": "train", "validation" or "test"'
      : 'Give more tasks, or mark them with "split": "train", "validation" or "test"',
  })
}

/** A number from 0 to 1 that depends on the task alone. */
function placeOf({ id, kind = 'own' }: FileTask): number {
  return Number.parseInt(sha256(JSON.stringify([kind, id])).slice(0, 12), 16) / 2 ** 48
}
