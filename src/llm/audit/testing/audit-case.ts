import { auditEnvironment } from '../audit.ts'
import type { AuditExample, AuditOptions, AuditReport } from '../audit.ts'
import type { Task } from '../../agent/types.ts'
import { playCase } from './judge-case.ts'
import type { JudgeCase, OpenedCase } from './judge-case.ts'

const drawn = ({ tasks }: OpenedCase, split: 'train' | 'test', count: number): Task[] =>
  Array.from({ length: count }, (_, seed) =>
    tasks.task({ split, seed, kind: tasks.kinds[seed % tasks.kinds.length] }),
  )

/** Audits a case on 30 tasks of each split. */
export async function auditCase(
  one: JudgeCase,
  judge: 'right' | 'wrong',
  options: Partial<AuditOptions> = {},
): Promise<AuditReport> {
  const opened = await one.open(judge)
  return auditEnvironment({
    ...opened,
    tasks: drawn(opened, 'test', 30),
    practice: drawn(opened, 'train', 30),
    ...options,
  })
}

/** Plays the episode of an example again. Returns whether its task is really done. */
export async function isReallyDone(one: JudgeCase, example: AuditExample): Promise<boolean> {
  const opened = await one.open('wrong')
  const task = drawn(opened, 'test', 30).find(({ id }) => id === example.task) as Task
  const { done } = await playCase(one, opened, task, (results) => {
    const next = example.calls[results.length]
    return next === undefined ? { answer: example.answer ?? '' } : { call: next }
  })
  return done
}
