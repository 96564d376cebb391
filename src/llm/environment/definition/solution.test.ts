import { expect, test } from 'vitest'
import { answers } from './solution.ts'

test('quotes and full stops around an answer do not count, however many', () => {
  const wanted = { kind: 'text', text: 'Ada', others: ['Bob'] } as const
  expect(answers(wanted, '"Ada".')).toBe(true)
  expect(answers(wanted, ' “Ada” ')).toBe(true)
  expect(answers(wanted, `Ada${'".'.repeat(50_000)}`)).toBe(true)
  // Was searched from each of them.
  expect(answers(wanted, `x${'".'.repeat(50_000)}x`)).toBe(false)
})
