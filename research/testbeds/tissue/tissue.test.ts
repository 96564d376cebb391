import { expect, test } from 'vitest'
import { createVectorEnvironment } from 'agoge/classic'
import { createRandom } from 'agoge/engine'
import { search } from './tissue.ts'

type Step = { episode: number; mask: number; back: number; action: number; reward: number; found: boolean }
/** Steps of one robot in three tissues; the actions are chosen by what it senses. */
function walked(from: number, count: number, choose: (free: number[], back: number) => number): Step[] {
  const environment = createVectorEnvironment(search(from, 3), { numEnvs: 1, seed: 1 })
  environment.reset()
  let episode = 0
  return Array.from({ length: count }, () => {
    const [mask, back] = [Math.floor(environment.observations[0] / 7), environment.observations[0] % 7]
    const action = choose(
      [0, 1, 2, 3, 4, 5].filter((k) => (mask & (1 << k)) === 0),
      back,
    )
    environment.actions[0] = action
    environment.step()
    const found = environment.terminated[0] === 1
    const step = { episode, mask, back, action, reward: environment.rewards[0], found }
    if (found || environment.truncated[0] === 1) episode++
    return step
  })
}
const random = createRandom('walk', 1)
const anywhere = walked(1, 3000, () => random.int(6))

test('a blocked step stays, a free one moves', () => {
  for (const { mask, action, reward } of anywhere) expect(reward === -0.2).toBe((mask & (1 << action)) !== 0)
})

test('the way back undoes what a step gained', () => {
  let times = 0
  for (const [k, { episode, back, action, reward }] of anywhere.entries()) {
    const before = anywhere[k - 1]
    if (before === undefined || before.episode !== episode || before.reward === -0.2 || action !== back)
      continue
    expect(reward + before.reward).toBeCloseTo(-0.4, 9)
    times++
  }
  expect(times).toBeGreaterThan(50)
})

test('concentration is highest at the tumour, and a climb finds it more often than a walk', () => {
  const climbed = walked(1, 3000, (free) => (random.next() < 0.1 ? random.int(6) : free[0]))
  const totals = new Map<number, number>()
  for (const { episode, reward, found } of climbed) {
    totals.set(episode, (totals.get(episode) ?? 0) + reward + 0.2)
    if (found) expect(totals.get(episode)).toBeGreaterThan(0)
  }
  const count = (steps: Step[]): number => steps.filter(({ found }) => found).length
  expect(count(climbed)).toBeGreaterThan(3 * count(anywhere))
  expect(walked(50, 50, () => 0)).not.toEqual(walked(1, 50, () => 0))
})
