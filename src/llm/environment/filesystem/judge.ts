import type { Outcome } from '../../agent/types.ts'
import type { Scored } from '../../episode/score.ts'
import { answers } from '../definition/answer.ts'
import type { FileTree, FilesystemTask } from './task.ts'
import { treeDifference } from './tree.ts'

/**
 * Success needs both: a sandbox that ends exactly as wanted (every folder, every file, every text), and the wanted
 * answer. How the agent got there does not count.
 */
export function judgeOutcome(
  task: FilesystemTask,
  found: FileTree,
  outcome: Outcome,
): Scored<'state' | 'answer'> {
  const difference = treeDifference(found, task.goal)
  const answered = answers(task.answer, outcome.answer)
  const success = difference === undefined && answered
  return {
    value: Number(success),
    parts: { state: difference === undefined ? 1 : 0, answer: answered ? 1 : 0 },
    ...(success ? {} : { reason: difference ?? 'the answer is not the wanted one' }),
  }
}
