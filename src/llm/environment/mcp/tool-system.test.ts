import { expect, test } from 'vitest'
import { noGeneratedValues } from './profile/generated.ts'
import { newState, type StatePool } from './server/state-pool.ts'
import { createToolSystem } from './tool-system.ts'

test('the first state is looked at once after it was proved, and each other state every time', async () => {
  const looks: number[] = []
  const pool: StatePool = {
    async call(state, name) {
      if (name === 'add') state.journal.push({ name, arguments: {} })
      else looks.push(state.journal.length)
      return { text: `[${state.journal.map(() => 1).join()}]`, isError: false }
    },
    describe: async () => '',
    records: async () => [],
    restart: async () => {},
    open: () => {},
    limit: () => {},
    close: async () => {},
  }
  const system = createToolSystem({ name: 'sums', tools: [], pool, observe: ['list'] })
  // Proving the reset needs a look at each state.
  await system.observe(newState())
  await system.observe(newState())
  expect(looks).toEqual([0, 0])
  system.conclude({
    kinds: new Map(),
    observers: [{ name: 'list', arguments: {} }],
    generated: noGeneratedValues(),
  })
  const first = await system.observe(newState())
  expect(await system.observe(newState())).toBe(first)
  const state = newState()
  await system.call(state, 'add', {})
  expect(await system.observe(state)).not.toBe(first)
  expect(await system.observe(state)).not.toBe(first)
  expect(looks).toEqual([0, 0, 0, 1, 1])
})
