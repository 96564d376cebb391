import { expect, test } from 'vitest'
import { each } from '../each.ts'
import { argmax, expectation, gamesOf, improve, softmax } from './common-payoff.ts'

test('the known games are those of the paper, and 1 is the best payoff of every game', () => {
  const games = gamesOf(1)
  const known = [
    [11, -30, 0, -30, 7, 6, 0, 0, 5].map((payoff) => payoff / 11),
    [10, 0, -25, 0, 2, 0, -25, 0, 10].map((payoff) => payoff / 10),
  ]
  for (const [k, table] of known.entries())
    for (const [at, payoff] of games[k].flat().entries()) expect(payoff).toBeCloseTo(table[at], 6)
  expect(games.map((game) => game.length)).toEqual([3, 3, 5, 5, 5, 5])
  for (const game of games) expect(Math.max(...game.flat())).toBeCloseTo(1, 12)
  for (const game of games.slice(2)) expect(Math.min(...game.flat())).toBeGreaterThan(-2.01)
})

test('drawn games differ by seed and from each other', () => {
  expect(gamesOf(1)).toEqual(gamesOf(1))
  expect(gamesOf(2)[2]).not.toEqual(gamesOf(1)[2])
  expect(gamesOf(1)[3]).not.toEqual(gamesOf(1)[2])
})

test('a step follows the gradient of the expected values and the entropy', () => {
  const [logits, values, entropy] = [[0.3, -0.5, 1.2], [1, 0.2, -0.7], 0.4]
  const objective = (of: number[]): number => {
    const policy = softmax(of)
    return expectation(policy, values) - entropy * expectation(policy, policy.map(Math.log))
  }
  const moved = [...logits]
  improve(moved, softmax(logits), values, entropy, 2)
  for (const k of each(3)) {
    const [more, less] = [1e-5, -1e-5].map((by) => objective(logits.with(k, logits[k] + by)))
    expect((moved[k] - logits[k]) / 2).toBeCloseTo((more - less) / 2e-5, 8)
  }
  expect(argmax([1, 3, 3, 2])).toBe(1)
})
