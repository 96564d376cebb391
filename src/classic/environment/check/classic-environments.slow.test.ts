import { beforeAll, expect, test } from 'vitest'
import { classicEnvironments } from '../../environments/catalogue.ts'
import { loadMujoco } from '../../environments/mujoco/physics.ts'
import { createEnvironment } from '../environment.ts'
import { visibleContext } from '../visible-context.ts'
import { findFaults } from './check-environment.ts'

const definitions = Object.entries(classicEnvironments)
beforeAll(() => loadMujoco())

test.each(definitions)('%s keeps the contract', (_, definition) => {
  expect(findFaults(definition)).toEqual([])
})

test('definitions with visible context, and as single environments, keep the contract', () => {
  const { cartpole } = classicEnvironments
  expect(findFaults(visibleContext(cartpole))).toEqual([])
  expect(findFaults(createEnvironment(cartpole))).toEqual([])
})
