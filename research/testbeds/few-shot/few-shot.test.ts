import { expect, test } from 'vitest'
import { createRandom } from 'agoge/engine'
import { atRandom, entropy, kCentre, mixture } from './select.ts'
import { classes, distance, drawTask, each, features, metaLearn, prototypes, telling } from './task.ts'

const selections = { atRandom, kCentre, entropy, soft: mixture(true), hard: mixture(false) }
const groups = [0, 1, 2, 3].map((at) => each(features, (i) => (i === at ? 10 : 0)))
/** Four groups of ten rows far apart. */
const rows = each(40, (k) => groups[k % 4].map((v, i) => v + 0.01 * ((3 * k + i) % 7)))

test('every class is in the pool and in the queries as often, and seeds differ', () => {
  const { pool, queries } = drawTask(createRandom(1))
  for (const label of each(classes, (k) => k)) {
    expect(pool.filter((one) => one.label === label).length).toBe(12)
    expect(queries.filter((one) => one.label === label).length).toBe(20)
  }
  expect(drawTask(createRandom(1)).pool).toEqual(pool)
  expect(drawTask(createRandom(2)).pool).not.toEqual(pool)
})

test('meta-learning gives weight to the features that tell classes apart', () => {
  const scales = metaLearn(createRandom(1), 10)
  const [apart, others] = [scales.slice(0, telling), scales.slice(telling)]
  expect(Math.min(...apart)).toBeGreaterThan(10 * Math.max(...others))
})

test('prototypes give probabilities by distance, and none to a class without examples', () => {
  const [a, b] = [groups[0].map((v) => v / 10), groups[1].map((v) => v / 10)]
  const classify = prototypes([
    { row: a, label: 1 },
    { row: b, label: 3 },
    { row: b, label: 3 },
  ])
  const scores = classify(a)
  expect(scores.reduce((x, y) => x + y)).toBeCloseTo(1, 12)
  expect([scores[0], scores[2], scores[4]]).toEqual([0, 0, 0])
  expect(scores[1] / scores[3]).toBeCloseTo(Math.exp(distance(a, b) / 2), 9)
})

test('selections choose different places, and see no label but those that they chose', () => {
  const { pool } = drawTask(createRandom(3))
  for (const [name, select] of Object.entries(selections)) {
    const asked = new Set<number>()
    const chosen = select(
      pool.map(({ row }) => row),
      10,
      createRandom(1),
      (at) => {
        asked.add(at)
        return pool[at].label
      },
    )
    expect(new Set(chosen).size, name).toBe(10)
    expect(
      [...asked].every((at) => chosen.includes(at)),
      name,
    ).toBe(true)
  }
})

test('covers and mixtures choose one of each of some groups far apart', () => {
  for (const name of ['kCentre', 'soft', 'hard'] as const) {
    const chosen = selections[name](rows, 4, createRandom(2), () => 0)
    expect(
      chosen.map((at) => at % 4).toSorted((a, b) => a - b),
      name,
    ).toEqual([0, 1, 2, 3])
  }
  // Means that coincide choose different places all the same.
  const alike = rows.filter((_, at) => at % 4 === 0).map(() => groups[0])
  expect(new Set(selections.hard(alike, 4, createRandom(2), () => 0)).size).toBe(4)
})
