import { expect, test } from 'vitest'
import { forbiddenChoice, maskSize, sampleMaskOf } from './action-masks.ts'
import { box, discrete, multiBinary, multiDiscrete } from './space.ts'
import type { ArraySpace } from './space.ts'
import { counter } from './testing/definitions.ts'
import { createVectorEnvironment } from './vector.ts'
import { checkActionsOf } from './wrappers/check-actions-of.ts'

test.each<[ArraySpace, action: number[], mask: number[], forbidden: number]>([
  [discrete(3, 5), [6], [1, 1, 0], -1],
  [discrete(3, 5), [7], [1, 1, 0], 0],
  [multiDiscrete([3, 2]), [2, 1], [0, 0, 1, 0, 1], -1],
  [multiDiscrete([3, 2]), [2, 0], [0, 0, 1, 0, 1], 1],
  [multiBinary(2), [1, 1], [1, 1, 1, 0], 1],
])('of %j the action %j under the mask %j', (space, action, mask, forbidden) => {
  expect(maskSize('an environment', space)).toBe(mask.length)
  // In the second row of both.
  const actions = [...action.map(() => 0), ...action]
  const masks = [...mask.map(() => 0), ...mask]
  expect(forbiddenChoice(space, actions, action.length, masks, mask.length)).toBe(forbidden)
})

test('action masks convert to the masks of samplers', () => {
  const row = Uint8Array.of(1, 0, 1, 0, 1)
  expect(sampleMaskOf(discrete(5), row)).toEqual(row)
  expect(sampleMaskOf(multiDiscrete([3, 2]), row)).toEqual([Uint8Array.of(1, 0, 1), Uint8Array.of(0, 1)])
  expect(sampleMaskOf(multiBinary(3), Uint8Array.of(1, 0, 0, 1, 1, 1))).toEqual([0, 1, 2])
  expect(sampleMaskOf(multiDiscrete([2, 2]), Uint8Array.of(1, 1, 0, 0))).toBeUndefined()
  expect(() => maskSize('an environment', box([1], 0, 1))).toThrow('an environment has an action mask, but')
})

test('the check names the first forbidden choice', () => {
  const env = checkActionsOf(
    createVectorEnvironment(
      {
        ...counter,
        action: multiDiscrete([3, 2]),
        mask: ({ actionMask }, i) => actionMask.set([1, 1, 1, 0, 1], i * 5),
      },
      { numEnvs: 2 },
    ),
  )
  env.reset()
  env.actions.set([1, 1, 0, 1])
  env.step()
  env.actions.set([1, 1, 0, 0])
  expect(() => env.step()).toThrow(
    expect.objectContaining({
      code: 'masked-action',
      message: expect.stringContaining('environment 1, step 2: action[1] 0 is not allowed'),
    }),
  )
})
