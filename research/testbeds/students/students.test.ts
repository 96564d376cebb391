import { expect, test } from 'vitest'
import { teach } from './students.ts'

test('random practice for long enough masters all that a student can reach, and no more', () => {
  for (const seed of ['1', '2', '3']) {
    expect(teach(seed, 60_000, { explore: 1 }).mastered).toBe(1)
    expect(teach(seed, 1000, { explore: 1 }).mastered).toBeLessThan(0.9)
  }
})

test('stages of a curriculum are distributions of tasks, and are learned from sooner than at random', () => {
  let [own, random] = [0, 0]
  for (const seed of ['1', '2', '3', '4']) {
    const { stages, mastered, test: tested } = teach(seed, 3000, { explore: 0.1 })
    own += mastered
    random += teach(seed, 3000, { explore: 1 }).mastered
    expect(stages.length).toBeGreaterThan(0)
    for (const { chances } of stages) {
      expect(chances.reduce((a, b) => a + b)).toBeCloseTo(1, 9)
      expect(Math.min(...chances)).toBeGreaterThanOrEqual(0)
    }
    // Competence and a little noise.
    expect(Math.max(...tested)).toBeLessThan(1.1)
    expect(Math.min(...tested)).toBeGreaterThan(-0.1)
  }
  expect(own).toBeGreaterThan(1.2 * random)
})

test('a past student guides all episodes of a replay, some beside own progress, and none if there is none', () => {
  const past = teach('past', 3000, { explore: 0.1 })
  const guided = (replay: boolean) => teach('new', 2000, { replay, past: () => past, explore: 0.1 })
  expect(guided(true).guided).toBe(1)
  expect(guided(false).guided).toBeGreaterThan(0.02)
  expect(guided(false).guided).toBeLessThan(0.9)
  expect(guided(true).followed).toBeLessThanOrEqual(1)
  const alone = teach('new', 2000, { explore: 0.1 })
  expect(teach('new', 2000, { past: () => undefined, explore: 0.1 })).toEqual(alone)
  expect([alone.guided, alone.followed]).toEqual([0, 0])
  expect(teach('other', 2000, { explore: 0.1 }).test).not.toEqual(alone.test)
})
