import { expect, test } from 'vitest'
import { createVectorEnvironment } from '../../environment/index.ts'
import { darkKeyDoor, darkRoom, darkRoom3, darkRoom5, shortestPlan } from './index.ts'

/** The mean return over all goals of a policy that walks straight to the goal and stays. */
function oracleMean(definition: typeof darkRoom, size: number): number {
  const goals = size * size
  const vector = createVectorEnvironment(definition, {
    numEnvs: goals,
    autoreset: 'disabled',
    contextFor: (envIndex) => ({ goalX: envIndex % size, goalY: Math.floor(envIndex / size) }),
  })
  vector.reset()
  while (vector.truncated[0] === 0) {
    for (let g = 0; g < goals; g++) {
      const cell = vector.observations[g]
      const [dx, dy] = [(g % size) - (cell % size), Math.floor(g / size) - Math.floor(cell / size)]
      vector.actions[g] = dx > 0 ? 1 : dx < 0 ? 3 : dy > 0 ? 2 : dy < 0 ? 0 : 4
    }
    vector.step()
  }
  return vector.returns.reduce((sum, value) => sum + value, 0) / goals
}

test('an oracle gets the means known of the three dark rooms', () => {
  expect(oracleMean(darkRoom, 9)).toBeCloseTo(21 - 40 / 9 - 1 / 81, 12)
  expect(oracleMean(darkRoom, 9).toFixed(2)).toBe('16.54')
  expect(oracleMean(darkRoom5, 5).toFixed(2)).toBe('18.56')
  expect(oracleMean(darkRoom3, 3).toFixed(2)).toBe('4.56')
})

test('a dark room starts in the centre, keeps the agent inside, and shows only its cell', () => {
  const vector = createVectorEnvironment(darkRoom5, { numEnvs: 1 })
  vector.reset()
  expect(vector.observations[0]).toBe(12)
  const seen = [0, 0, 0, 1, 1, 1, 4].map((action) => {
    vector.actions[0] = action
    vector.step()
    return vector.observations[0]
  })
  expect(seen).toEqual([7, 2, 2, 3, 4, 4, 4])
  expect(darkRoom5.text?.(vector.numEnvs, 0)).toBe('G...@\n.....\n.....\n.....\n.....')
})

test('key, then door: 1 each, and the door ends the episode', () => {
  const vector = createVectorEnvironment(darkKeyDoor, {
    numEnvs: 20,
    autoreset: 'disabled',
    contextFor: (envIndex) => ({ keyX: envIndex % 9, keyY: 3, doorX: 8, doorY: envIndex % 7 }),
  })
  vector.reset({ seed: 3 })
  for (let i = 0; i < 20; i++) {
    const { state } = vector.numEnvs
    const start = [state[i * 3], state[i * 3 + 1]]
    const key = [i % 9, 3]
    const door = [8, i % 7]
    const distance = (a: number[], b: number[]): number => Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1])
    // A step has to be made to pick up a key that lies where the agent begins.
    const expected = Math.max(1, distance(start, key)) + distance(key, door)
    expect(shortestPlan(darkKeyDoor, vector.numEnvs, i)?.length).toBe(expected)
  }
})
