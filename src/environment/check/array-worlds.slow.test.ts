import { expect, test } from 'vitest'
import { arrayWorlds } from '../../worlds/array-worlds.ts'
import { createEnvironment } from '../create-environment.ts'
import { visibleContext } from '../visible-context.ts'
import { findFaults } from './check-environment.ts'

const worlds = Object.entries(arrayWorlds)

test.each(worlds)('%s keeps the contract', (_, world) => {
  expect(findFaults(world)).toEqual([])
})

test('worlds keep it with their context in sight, and as scalar environments', () => {
  const { cartpole } = arrayWorlds
  expect(findFaults(visibleContext(cartpole))).toEqual([])
  expect(findFaults(createEnvironment(cartpole))).toEqual([])
})
