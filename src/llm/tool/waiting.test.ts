import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { pausableDeadline } from './waiting.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a deadline counts only the time without waiting', () => {
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

test('a cleared deadline never aborts, also after later calls', () => {
  const deadline = pausableDeadline(0.03, () => new Error('too slow'))
  deadline.clear()
  deadline.onWait(true)
  deadline.onWait(false)
  vi.advanceTimersByTime(80)
  expect(deadline.signal.aborted).toBe(false)
})
