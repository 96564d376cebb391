import { expect, test } from 'vitest'
import { createTokenBudget, estimateTokens, limitReached } from './budget.ts'

/** A body of this many bytes that allows this many tokens of reply. */
function bodyOf(bytes: number, reply: number): string {
  const empty = JSON.stringify({ max_tokens: reply, text: '' }).length
  return JSON.stringify({ max_tokens: reply, text: 'x'.repeat(bytes - empty) })
}

test('a text has a token for three bytes, rounded up', () => {
  expect(estimateTokens('abcd')).toBe(2)
  expect(estimateTokens('äö')).toBe(2)
})

test('an attempt reserves its prompt and the longest reply, and gives back what it did not use', async () => {
  const budget = createTokenBudget(300)
  const settle = await budget.beforeAttempt(bodyOf(300, 100))
  expect([budget.spent(), budget.requests()]).toEqual([0, 1])
  settle({ promptTokens: 60, sampledTokens: 10 })
  expect(budget.spent()).toBe(70)
  // 130 are left: 200 do not fit, and nothing is under way that could give some back.
  const settleSecond = await budget.beforeAttempt(bodyOf(300, 100))
  settleSecond({ promptTokens: 90, sampledTokens: 10 })
  expect(budget.spent()).toBe(170)
  await expect(budget.beforeAttempt(bodyOf(300, 100))).rejects.toThrow(limitReached)
  expect(budget.isReached()).toBe(true)
  expect([budget.spent(), budget.requests()]).toEqual([170, 2])
})

test('an attempt waits for those under way, of which one may give back enough', async () => {
  const budget = createTokenBudget(300)
  const first = await budget.beforeAttempt(bodyOf(300, 100))
  let sent = false
  const second = budget.beforeAttempt(bodyOf(300, 100)).then((settle) => {
    sent = true
    return settle
  })
  const third = budget.beforeAttempt(bodyOf(300, 100))
  await new Promise((resolve) => setImmediate(resolve))
  expect(sent).toBe(false)
  first({ promptTokens: 40, sampledTokens: 10 })
  const settle = await second
  settle({ promptTokens: 100, sampledTokens: 100 })
  await expect(third).rejects.toThrow(limitReached)
  expect(budget.spent()).toBe(250)
})

test('what an endpoint does not count is taken as reserved; what it refused costs nothing', async () => {
  const budget = createTokenBudget(1000)
  ;(await budget.beforeAttempt(bodyOf(300, 100)))(undefined)
  expect(budget.spent()).toBe(200)
  ;(await budget.beforeAttempt(bodyOf(300, 100)))({ promptTokens: 0, sampledTokens: 0 })
  expect(budget.spent()).toBe(200)
})

test('an endpoint that counts more tokens for a text raises the next reservations', async () => {
  const budget = createTokenBudget(500)
  ;(await budget.beforeAttempt(bodyOf(300, 100)))({ promptTokens: 240, sampledTokens: 0 })
  // 260 are left. By bytes alone this would need 200, by what was seen 340.
  await expect(budget.beforeAttempt(bodyOf(300, 100))).rejects.toThrow(limitReached)
})

test('a model without a limit of its replies is an error; an abort ends the wait', async () => {
  await expect(createTokenBudget(500).beforeAttempt('{"messages":[]}')).rejects.toMatchObject({
    code: 'model-endpoint-refused',
  })
  await expect(createTokenBudget(500).beforeAttempt('{"max_completion_tokens":10}')).resolves.toBeTypeOf(
    'function',
  )
  const controller = new AbortController()
  const budget = createTokenBudget(300, controller.signal)
  const first = await budget.beforeAttempt(bodyOf(300, 100))
  const waiting = budget.beforeAttempt(bodyOf(300, 100))
  controller.abort(new Error('Ctrl-C'))
  first(undefined)
  await expect(waiting).rejects.toThrow('Ctrl-C')
})
