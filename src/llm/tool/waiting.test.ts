import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { pausableDeadline } from './waiting.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('only time that is no waiting counts', () => {
  const deadline = pausableDeadline(0.1, () => new Error('too slow'))
  vi.advanceTimersByTime(60)
  deadline.onWait(true)
  vi.advanceTimersByTime(200)
  deadline.onWait(false)
  vi.advanceTimersByTime(39)
  expect(deadline.signal.aborted).toBe(false)
  vi.advanceTimersByTime(1)
  expect(deadline.signal.aborted).toBe(true)
  expect(deadline.signal.reason).toMatchObject({ message: 'too slow' })
})

test('a deadline that was cleared never comes, whatever is said later', () => {
  const deadline = pausableDeadline(0.03, () => new Error('too slow'))
  deadline.clear()
  deadline.onWait(true)
  deadline.onWait(false)
  vi.advanceTimersByTime(80)
  expect(deadline.signal.aborted).toBe(false)
})
