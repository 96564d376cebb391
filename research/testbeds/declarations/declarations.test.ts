import { expect, test } from 'vitest'
import { declaredValues, ground } from './declarations.ts'

const program = `
  factor row 2
  factor key 2
  actions down take
  define open := key = 1 and not (row = 0)
  effect down and row < 1 then row := row + 1
  effect take and row = 0 then key := 1
  reward down then 0 - 1
  reward take and open then 2 * 3 + 4
  end take and open`

test('a program is grounded in states and actions', () => {
  const { next, rewards, ends, actions } = ground(program)
  expect(actions).toBe(2)
  // States: row 0 without and with the key, row 1 without and with it.
  expect([...next]).toEqual([2, 1, 3, 1, -1, -1, -1, -1])
  expect([...rewards]).toEqual([-1, 0, -1, 0, -1, 0, -1, 10])
  expect([...ends]).toEqual([0, 0, 0, 0, 0, 0, 0, 1])
})

test('values follow from what is declared', () => {
  const values = declaredValues(program, 0.5)
  // With the key: down at a cost of 1, then the reward of 10.
  expect(values[2]).toBeCloseTo(-1 + 0.5 * 10, 9)
  expect(values[1]).toBeCloseTo(0.5 * 4, 9)
})

test('an expression without an operand is refused', () => {
  expect(() => ground(program.replace('row + 1', 'row +'))).toThrow('no expression')
})
