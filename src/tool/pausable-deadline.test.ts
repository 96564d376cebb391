import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { pausableDeadline } from './pausable-deadline.ts'

test('only time that is no waiting counts', async () => {
  const deadline = pausableDeadline(0.1, () => new Error('too slow'))
  deadline.onWait(true)
  await wait(200)
  expect(deadline.signal.aborted).toBe(false)
  deadline.onWait(false)
  await expect.poll(() => deadline.signal.aborted, { timeout: 2000 }).toBe(true)
  expect(deadline.signal.reason).toMatchObject({ message: 'too slow' })
})

test('a deadline that was cleared never comes, whatever is told later', async () => {
  const deadline = pausableDeadline(0.03, () => new Error('too slow'))
  deadline.clear()
  deadline.onWait(true)
  deadline.onWait(false)
  await wait(80)
  expect(deadline.signal.aborted).toBe(false)
})
