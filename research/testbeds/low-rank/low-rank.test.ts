import { expect, test } from 'vitest'
import { finiteHorizon, finiteModel } from 'agoge/classic'
import { average } from 'agoge/statistics'
import { each } from '../each.ts'
import {
  actions,
  best,
  copies,
  dot,
  horizon,
  induction,
  leastSquares,
  lowRank,
  pairs,
  states,
} from './low-rank.ts'

const { to, transitions, rewards } = lowRank(1)

test('next states are distributions, of which there are as many as latents', () => {
  for (const row of transitions) expect(row.reduce((a, b) => a + b)).toBeCloseTo(1, 12)
  expect(new Set(transitions.map((row) => row.join())).size).toBe(4)
  expect(pairs.map(({ s, a }) => s * actions + a)).toEqual(each(states * actions))
  expect(lowRank(1).to).toEqual(to)
  expect(new Set(each(20).map((seed) => lowRank(seed).to.join())).size).toBeGreaterThan(10)
})

test('backward induction on the true model finds the best return, by way of the lock', () => {
  const model = finiteModel({
    states,
    actions,
    start: 0,
    outcomes: (s, a) =>
      transitions[s * actions + a].map((probability, state) => ({
        probability,
        state,
        reward: rewards[s * actions + a],
        terminated: false,
      })),
  })
  const { policy, value } = induction(transitions, rewards, (q, s) => q[s * actions + best(q, s)])
  expect(value).toBeCloseTo(average(Array.from(finiteHorizon(model, horizon)).slice(0, copies)), 9)
  // Three right steps of six lead to the end.
  expect(value).toBeGreaterThan(0.9 ** 3 * 2)
  expect(policy.length).toBe(horizon)
  expect(policy[0].slice(0, copies).map((a, s) => to[s * actions + a])).toEqual(each(copies).map(() => 1))
})

test('least squares over indicators are counts', () => {
  const { learn, fit } = leastSquares(each(3).map((i) => each(3).map((j) => Number(i === j))))
  for (const next of [5, 5, 5, 7]) learn(1, next)
  const { model, uncertain } = fit()
  expect([model[1][5], model[1][7], model[1][6], model[0][5]]).toEqual(
    [3 / 5, 1 / 5, 0, 0].map((v) => expect.closeTo(v, 12)),
  )
  expect(uncertain).toEqual([1, 1 / Math.sqrt(5), 1].map((v) => expect.closeTo(v, 12)))
})

test('least squares over features that overlap have no gradient', () => {
  const features = [
    [1, 0],
    [0, 1],
    [1, 2],
    [3, -1],
  ]
  const { learn, fit } = leastSquares(features)
  const steps = [0, 2, 2, 3, 1, 3, 2].map((pair, k) => ({ pair, next: k % 3 }))
  for (const { pair, next } of steps) learn(pair, next)
  const { model } = fit()
  for (const next of each(3)) {
    const weights = [model[0][next], model[1][next]]
    expect(model[3][next]).toBeCloseTo(dot(features[3], weights), 12)
    for (const i of [0, 1]) {
      const gradient = steps.reduce(
        (sum, step) => sum + features[step.pair][i] * (model[step.pair][next] - Number(step.next === next)),
        weights[i],
      )
      expect(gradient).toBeCloseTo(0, 12)
    }
  }
})
