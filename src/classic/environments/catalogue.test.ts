import { expect, test } from 'vitest'
import { createVectorEnvironment, fastStream } from '../environment/index.ts'
import type { ArraySpace } from '../environment/index.ts'
import { classicEnvironments } from './catalogue.ts'

const definitions = Object.entries(classicEnvironments)

test('no two environments share a name', () => {
  expect(definitions.map(([name]) => name)).toEqual(definitions.map(([, definition]) => definition.name))
  expect(definitions.length).toBeGreaterThan(15)
})

test.each(definitions)('%s has context features, their defaults inside their ranges', (_name, definition) => {
  const features = Object.values(definition.context)
  expect(features.length).toBeGreaterThan(0)
  for (const { default: usual, low, high, extrapolate = [low, high], about } of features) {
    expect(low).toBeLessThanOrEqual(usual)
    expect(usual).toBeLessThanOrEqual(high)
    expect(extrapolate[0]).toBeLessThanOrEqual(low)
    expect(high).toBeLessThanOrEqual(extrapolate[1])
    expect(about).not.toBe('')
  }
})

test.each(definitions)(
  '%s: observations of random play lie in their space, rewards are finite',
  (_name, definition) => {
    const environment = createVectorEnvironment(definition, { numEnvs: 2 })
    const choice = fastStream('policy')
    const { action, observation } = definition
    const outside: string[] = []
    environment.reset()
    for (let t = 0; t < 100; t++) {
      for (let k = 0; k < environment.actions.length; k++) {
        environment.actions[k] =
          action.type === 'discrete'
            ? action.start + choice.integers(action.n)
            : action.type === 'multi-discrete'
              ? choice.integers(action.counts[k % action.counts.length])
              : choice.uniform(-1, 1)
      }
      environment.step()
      if (!environment.rewards.every(Number.isFinite)) outside.push(`a reward at step ${t}`)
      environment.observations.forEach((value, k) => {
        if (!allows(observation, value, k)) outside.push(`observation ${k} at step ${t}: ${value}`)
      })
    }
    expect(outside).toEqual([])
  },
)

/** Whether the k-th number of rows of observations may have a value. */
function allows(space: ArraySpace, value: number, k: number): boolean {
  switch (space.type) {
    case 'box': {
      const place = k % space.low.length
      return value >= Math.fround(space.low[place]) && value <= Math.fround(space.high[place])
    }
    case 'discrete':
      return value >= space.start && value < space.start + space.n
    case 'multi-discrete':
      return value >= 0 && value < space.counts[k % space.counts.length]
    case 'multi-binary':
      return value === 0 || value === 1
  }
}
