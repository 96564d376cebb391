import { expect, test } from 'vitest'
import { dealPlans } from './plan-splits.ts'

test('training gets every listed value and every optional argument with and without a value', () => {
  const plans: [string, string[]][] = ['error', 'success', 'debug'].flatMap((type) =>
    [undefined, true, false].map((image): [string, string[]] => [
      `${type} ${image}`,
      [`type ${type}`, `image ${image !== undefined}`, ...(image === undefined ? [] : [`image is ${image}`])],
    ]),
  )
  const dealt = dealPlans(plans, plans)
  const train = plans.filter(([key]) => dealt.get(key) === 'train').flatMap(([, choices]) => choices)
  const all = new Set(plans.flatMap(([, choices]) => choices))
  expect(new Set(train)).toEqual(all)
  expect(new Set(dealt.values())).toEqual(new Set(['train', 'validation', 'test']))
})

test('of many plans only those that show a choice first are given to training', () => {
  const plans = Array.from({ length: 40 }, (_, at): [string, string[]] => [
    String(at),
    [at === 30 ? 'count left out' : 'count given'],
  ])
  expect([...dealPlans(plans, [])]).toEqual([
    ['0', 'train'],
    ['30', 'train'],
  ])
})

test('a plan without choices is for training; of two, the second is for the test', () => {
  expect([...dealPlans([['a', []]], [])]).toEqual([['a', 'train']])
  expect(
    [
      ...dealPlans(
        [
          ['a', []],
          ['b', []],
        ],
        [],
      ),
    ].map(([, split]) => split),
  ).toEqual(['train', 'test'])
})
