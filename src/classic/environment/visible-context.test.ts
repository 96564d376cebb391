import { expect, test } from 'vitest'
import { createVectorEnvironment } from './vector.ts'
import { box, discrete, multiDiscrete } from './space.ts'
import type { ArraySpace } from './space.ts'
import { visibleContext } from './visible-context.ts'
import { defineEnvironment } from './definition.ts'

/** An environment that shows the number of the step, or a fixed member. */
const counter = (observation: ArraySpace) =>
  defineEnvironment({
    name: 'counter',
    observation,
    action: discrete(2),
    context: {
      start: { default: 0, low: 0, high: 4, integer: true, about: 'first number' },
      weight: { default: 3, low: 1, high: 5, extrapolate: [0, 9], about: 'nothing' },
    },
    stateSize: 1,
    reset: ({ state, context }, i) => (state[i] = context.start[i]),
    step: ({ state, rewards, context }, i) => {
      state[i]++
      rewards[i] = context.weight[i]
    },
    observe({ state, observations }, i) {
      if (observation.type === 'discrete') observations[i] = state[i]
      else observations.set([state[i], 1], i * 2)
    },
  })

test('the features follow the observation, scaled to -1..1 over the range of training', () => {
  const definition = visibleContext(counter(box([2], 0, 10)))
  const vector = createVectorEnvironment(definition, {
    numEnvs: 2,
    contextFor: (envIndex) => (envIndex === 0 ? { start: 1, weight: 5 } : { weight: 9 }),
  })
  vector.reset()
  expect([...vector.observations]).toEqual([1, 1, -0.5, 1, 0, 1, -1, 3])
  vector.step()
  expect([...vector.observations]).toEqual([2, 1, -0.5, 1, 1, 1, -1, 3])
  expect([...vector.rewards]).toEqual([5, 9])
  expect(definition.observation).toMatchObject({ type: 'box', shape: [4] })
})

test('choices are shown one-hot; only the features named are shown', () => {
  const show = (observation: ArraySpace): number[] => {
    const vector = createVectorEnvironment(visibleContext(counter(observation), ['weight']), {
      numEnvs: 2,
      contextFor: (envIndex) => ({ start: envIndex }),
    })
    vector.reset()
    return [...vector.observations]
  }
  expect(show(discrete(4))).toEqual([1, 0, 0, 0, 0, 0, 1, 0, 0, 0])
  expect(show(multiDiscrete([3, 2]))).toEqual([1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0])
  // It would be a place in what stands beside it.
  expect(() => show(discrete(1))).toThrow(
    expect.objectContaining({
      code: 'not-in-space',
      message: 'counter showed choice 1 of 1, counted from 0',
    }),
  )
})

test('a feature that the environment lacks is refused', () => {
  expect(() => visibleContext(counter(discrete(4)), ['mass' as 'weight'])).toThrow(
    expect.objectContaining({ code: 'unknown-feature' }),
  )
})
