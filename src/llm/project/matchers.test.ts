import { expect, test } from 'vitest'
import { evaluate } from './evaluate.ts'
import type { EvaluationResult } from './evaluation.ts'
import { evaluationMatchers } from './matchers.ts'
import { scripted } from './testing/scripted-model.ts'

expect.extend(evaluationMatchers)
// As a user declares them, see docs/guides/evaluating-agents.md.
declare module 'vitest' {
  interface Matchers {
    toSucceed: (wanted: { atLeast: number; model?: string }) => void
    notToRegressFrom: (baseline: Pick<EvaluationResult, 'models' | 'records'>) => void
  }
}

/** An agent that does the first `right` of 20 tasks. */
const succeeding = (right: number): Promise<EvaluationResult> =>
  evaluate({
    agent: ({ id }) => Number(id) < right,
    tasks: Array.from({ length: 20 }, (_, i) => ({ id: `${i}`, prompt: 'Do it.' })),
    score: ({ output }) => Number(output),
    models: [scripted(() => '')],
  }).result

test('toSucceed fails only where the interval lies below', async () => {
  const most = await succeeding(15)
  expect(most).toSucceed({ atLeast: 0.75 })
  // 15 of 20 may well be 80%.
  expect(most).toSucceed({ atLeast: 0.8, model: 'test/scripted' })
  expect(() => expect(most).toSucceed({ atLeast: 0.95 })).toThrow(
    /success: test\/scripted 75% \(.*asked for: 95%/,
  )
  expect(() => expect(most).toSucceed({ atLeast: 0.5, model: 'other' })).toThrow(/no such model/)
})

test('notToRegressFrom fails only where the difference is shown', async () => {
  const [before, little, much] = [await succeeding(18), await succeeding(17), await succeeding(6)]
  expect(little).notToRegressFrom(before)
  expect(before).notToRegressFrom(much)
  expect(() => expect(much).notToRegressFrom(before)).toThrow(/test\/scripted now less before: -60/)
  const other = { models: [], records: [] }
  expect(() => expect(much).notToRegressFrom(other)).toThrow(/none of these models/)
})
