import { fromFileTask } from '../environment/mcp/goals/task-file.ts'
import { hasValue } from '../environment/mcp/goals/value.ts'
import type { Scorer } from './config.ts'

/** Settings of `answerMatches`. */
export interface AnswerMatchesOptions<Output> {
  /** The text of an output. Default: the output itself, or its `text`; any other value as JSON. */
  text?: (output: Output) => string
}

/**
 * Scores 1 if the answer has the value that the task expects under `expected.answer`, else 0. Numbers are equal up to rounding, dates up
 * to their notation, lists as sets, texts up to case and quotes; a short sentence around the value is right too. `null` if the task
 * expects no answer.
 *
 * @example answerMatches({ text: (output: { city: string }) => output.city })
 */
export function answerMatches<Output = unknown>({
  text = textOf,
}: AnswerMatchesOptions<Output> = {}): Scorer<Output> {
  return ({ given, output }) => {
    const { answer, type = 'text', others, ordered = false } = fromFileTask(given, 0).expected
    if (answer === null) return { value: null, reason: `the task ${given.id} has no expected answer` }
    return Number(hasValue(text(output), { type, answer, others, ordered }))
  }
}

function textOf(output: unknown): string {
  if (typeof output === 'string') return output
  if (typeof output === 'object' && output !== null && 'text' in output && typeof output.text === 'string')
    return output.text
  return JSON.stringify(output) ?? ''
}
