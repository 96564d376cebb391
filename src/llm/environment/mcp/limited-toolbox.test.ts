import { expect, test } from 'vitest'
import { createCallLimit, limitToolbox } from './limited-toolbox.ts'

function recording() {
  const calls: string[] = []
  const specs = ['look', 'destroy'].map((name) => ({ name, inputSchema: { type: 'object' } }))
  return {
    calls,
    toolbox: { specs, call: async (name: string) => (calls.push(name), { text: '', isError: false }) },
  }
}

test('a tool that is not allowed is neither listed nor called', async () => {
  const { calls, toolbox } = recording()
  const withFileErrors = limitToolbox(toolbox, createCallLimit({ allowed: ['look'], maxCalls: 5 }))
  expect(withFileErrors.specs.map((spec) => spec.name)).toEqual(['look'])
  await withFileErrors.call('look', {})
  await expect(withFileErrors.call('destroy', {})).rejects.toMatchObject({
    code: 'tool-not-allowed',
    given: 'destroy',
  })
  expect(calls).toEqual(['look'])
})

test('the budget holds over all toolboxes behind one guard', async () => {
  const one = recording()
  const two = recording()
  const limit = createCallLimit({ allowed: ['look'], maxCalls: 3 })
  const boxes = [limitToolbox(one.toolbox, limit), limitToolbox(two.toolbox, limit)]
  const outcomes = await Promise.allSettled([0, 1, 0, 1, 0].map((box) => boxes[box].call('look', {})))
  expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(3)
  expect(one.calls.length + two.calls.length).toBe(3)
  expect(limit.used()).toEqual({ total: 3, tools: { look: 3 } })
  await expect(boxes[0].call('look', {})).rejects.toMatchObject({ code: 'call-budget' })
})

test('calls are spaced by the rate, and waiting can be given up', async () => {
  const { calls, toolbox } = recording()
  const withFileErrors = limitToolbox(
    toolbox,
    createCallLimit({ allowed: ['look'], maxCalls: 9, callsPerSecond: 50 }),
  )
  const began = performance.now()
  await Promise.all([1, 2, 3, 4].map(() => withFileErrors.call('look', {})))
  expect(performance.now() - began).toBeGreaterThan(55)
  expect(calls).toHaveLength(4)
})

test('waiting for the rate can be given up', async () => {
  const { calls, toolbox } = recording()
  const withFileErrors = limitToolbox(
    toolbox,
    createCallLimit({ allowed: ['look'], maxCalls: 9, callsPerSecond: 0.001 }),
  )
  await withFileErrors.call('look', {})
  const stop = new AbortController()
  const waiting = withFileErrors.call('look', {}, { signal: stop.signal })
  stop.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  expect(calls).toHaveLength(1)
})
