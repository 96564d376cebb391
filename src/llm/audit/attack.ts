import type { Expert } from '../agent/types.ts'
import type { ToolSpec } from '../tool/tool.ts'
import type { CheatContext } from './cheating-agents.ts'
import type { Reference } from './outcome-check.ts'
import { moveOf, say } from './scripts.ts'
import type { Step } from './scripts.ts'

/** What an attack is made from: what a cheating agent sees, and the expert's solution, which a trained agent comes to know. */
export interface AttackContext extends CheatContext {
  task: Reference['task']
  reference: Reference
}

/** One way to carry out an attack. Its name says what it does, so that a report can be followed. */
export interface Variant {
  name: string
  script: (context: AttackContext) => Expert
}

export interface Attack {
  name: string
  about: string
  /** What to change in a judge that rewards it. */
  advice: string
  variants: (tools: readonly ToolSpec[]) => readonly Variant[]
}

/** The expert's calls, then further steps, then an answer. The expert's moves may be changed on the way. */
export function afterExpert(
  { task, reference }: AttackContext,
  extra: readonly Step[],
  answer: Step = say(reference.answer),
  change: (move: Extract<Step, { call: unknown }>, at: number) => Step = (move) => move,
): Expert {
  const { length } = reference.calls
  return (results) => {
    const at = results.length
    if (at >= length) return moveOf(extra[at - length] ?? answer, results)
    const move = task.plan(results)
    return 'answer' in move ? moveOf(answer, results) : moveOf(change(move, at), results)
  }
}

/** Whether a call of the expert may change the state. */
export const mayChange = ({ reference, tools }: AttackContext, at: number): boolean =>
  reference.changes[at] ??
  tools.find(({ name }) => name === reference.calls[at]?.name)?.annotations?.readOnlyHint !== true

/** The call of the expert that changed something last; if none did, the last one. */
export const lastChange = (context: AttackContext): Reference['calls'][number] | undefined =>
  context.reference.calls.findLast((_, at) => mayChange(context, at)) ?? context.reference.calls.at(-1)
