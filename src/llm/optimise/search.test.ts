import { expect, test } from 'vitest'
import { plainSetup } from '../setup/setup.ts'
import { levers } from './levers/index.ts'
import type { ModelTraining } from './model-training.ts'
import { type AgentKnowledge, type Arm, newArm, promiseOf as promise, withShare } from './search.ts'

const armWith = (state: Partial<Arm>): Arm => ({ ...newArm(levers[0], plainSetup), ...state })

const promiseOf = (arm: Arm, price = 0, expected = 0.05): number => promise(arm, { price, expected })

test('a lever that has proposed nothing goes first, then the one whose last gain was large for its cost', () => {
  const untried = promiseOf(armWith({}))
  const gained = promiseOf(armWith({ round: 2, spent: 2000, lastStep: 0.4 }))
  const dear = promiseOf(armWith({ round: 2, spent: 8000, lastStep: 0.4 }))
  const found = promiseOf(armWith({ round: 2, spent: 2000, without: 2 }))
  expect(untried).toBe(Infinity)
  expect(gained).toBeGreaterThan(dear)
  expect(dear).toBeGreaterThan(found)
})

test('a lever that gained once gives way to others after some proposals without a gain', () => {
  const never = promiseOf(armWith({ round: 1, spent: 1000, without: 1 }))
  const order = [0, 1, 2, 3, 4, 5].map((without) =>
    promiseOf(armWith({ round: without + 1, spent: 1000 * (without + 1), lastStep: 0.3, without })),
  )
  expect([...order].sort((a, b) => b - a)).toEqual(order)
  expect(order[2]).toBeGreaterThan(never)
  expect(order[5]).toBeLessThan(never)
})

test('a lever that has ended without spending anything is no division by zero', () => {
  expect(promiseOf(armWith({ round: 1, spent: 0, without: 1 }))).toBe(Infinity)
  // Nor if it expects nothing.
  expect(promiseOf(armWith({ round: 1, spent: 0, without: 1 }), 0, 0)).toBe(Infinity)
})

test('a first proposal with a price waits until the cheap ones promise less', () => {
  const untrained = armWith({})
  const cheap = (without: number): number =>
    promiseOf(armWith({ round: without, spent: 500 * without, without }))
  expect(promiseOf(untrained, 3000)).toBeLessThan(cheap(1))
  expect(promiseOf(untrained, 1000)).toBeGreaterThan(cheap(8))
  // Unless it can expect much.
  expect(promiseOf(untrained, 3000, 0.5)).toBeGreaterThan(cheap(1))
})

test('where levers share alike, a training takes no more than the part of its lever', () => {
  const known = { training: { share: () => 5000 } } as unknown as AgentKnowledge
  const share = (most: number): number => (withShare(known, () => most).training as ModelTraining).share()
  expect(share(800)).toBe(800)
  expect(share(8000)).toBe(5000)
  expect(share(Infinity)).toBe(5000)
  expect(withShare({ ...known, training: 'no local model' }, () => 800).training).toBe('no local model')
})
