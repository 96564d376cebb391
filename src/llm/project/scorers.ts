import { fromFileTask } from '../environment/mcp/goals/task-file.ts'
import { hasValue } from '../environment/mcp/goals/value.ts'
import { AgogeError } from '../../error.ts'
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
  return function answer({ given, output }) {
    const { answer: wanted, type = 'text', others, ordered = false } = fromFileTask(given, 0).expected
    if (wanted === null) return { value: null, reason: `the task ${given.id} has no expected answer` }
    return Number(hasValue(text(output), { type, answer: wanted, others, ordered }))
  }
}

/** The answer of an output as text: the output itself, or its `text`; any other value as JSON. */
export function textOf(output: unknown): string {
  if (typeof output === 'string') return output
  if (typeof output === 'object' && output !== null && 'text' in output && typeof output.text === 'string')
    return output.text
  return JSON.stringify(output) ?? ''
}

/**
 * Scores 1 if the state of the environment is the one that the task expects under `expected.state`, or that its reference leaves, else 0.
 *
 * @throws AgogeError `bad-config` (when it is called) if the config has no environment.
 * @example defineConfig({ ..., environment: mcp('memory', { sandbox: true }), score: stateEquals() })
 */
export function stateEquals<Output = unknown>(): Scorer<Output> {
  return function state({ given, judgement }) {
    if (judgement === undefined)
      throw new AgogeError('stateEquals() has no state to compare', {
        code: 'bad-config',
        given: 'a config without an environment',
        expected: "environment: mcp('NAME') or tools({ state, tools })",
      })
    const { state: share } = judgement.parts ?? {}
    if (judgement.value !== null && share !== undefined) return Number(share >= 1)
    return { value: null, reason: judgement.reason ?? `the task ${given.id} expects no state` }
  }
}
