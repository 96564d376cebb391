import { expect, test } from 'vitest'
import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { each } from '../each.ts'
import { environment, names, pool } from './formalisms.ts'

const [states, actions, gamma, steps, episodes] = [4, 2, 0.8, 40, 150]

/** Policies of the same environment, played: estimates of some features of each formalism [formalism][policy][feature]. */
function played(seed: number): number[][][] {
  const random = createRandom('environment', seed)
  const draw = (length: number) => each(length).map(() => Math.exp(2 * random.normal()))
  const model = each(states).map(() => each(actions).map(() => draw(states)))
  const tables = each(pool).map(() => each(states).map(() => draw(actions)))
  const rows = tables.map((table) => {
    const sums = names.map((_, f) => each([8, 8, 16, 9, 8, 6][f]).map(() => 0))
    for (let episode = 0; episode < episodes; episode++) {
      const visited: number[] = []
      for (let [t, s, memory] = [0, 0, 0]; t < steps; t++) {
        const a = random.weighted(table[s])
        const weight = gamma ** t / episodes
        for (const f of [0, 3, 4]) sums[f][s * actions + a] += weight
        sums[1][s * actions + a] += Number(t >= steps / 2) / episodes
        sums[2][(memory * states + s) * actions + a] += weight
        sums[3][8] -= weight * Math.log(table[s][a] / (table[s][0] + table[s][1]))
        s = random.weighted(model[s][a])
        if (s === 1 || s === 2) memory = 2 - s
        visited.push(s)
      }
      // The first six formulas: not 0 until 1, from where on not c until d.
      const first = visited.findIndex((s) => s < 2)
      const formulas = each(states).flatMap((c) =>
        each(states).flatMap((d) => (c === d || c === 1 || d === 1 ? [] : [[c, d]])),
      )
      for (const [k, [c, d]] of formulas.entries()) {
        const then = visited.slice(first + 1).find((s) => s === c || s === d)
        sums[5][k] += Number(first >= 0 && visited[first] === 1 && then === d) / episodes
      }
    }
    return sums
  })
  const order = ['markov', 'limit-average', 'reward-machine', 'regularised', 'nonlinear', 'temporal-logic']
  return names.map((name) => rows.map((sums) => sums[order.indexOf(name)]))
}

const correlation = (a: number[], b: number[]): number => {
  const [x, y] = [a, b].map((list) => list.map((v) => v - average(list)))
  const products = (p: number[], q: number[]): number => average(p.map((v, k) => v * q[k]))
  return products(x, y) / Math.sqrt(products(x, x) * products(y, y))
}

test('features are what episodes show, for every formalism', () => {
  const { seen } = environment(3)
  for (const [f, table] of played(3).entries())
    for (const k of table[0].keys()) {
      const [exact, estimate] = [seen[f], table].map((rows) => rows.map((row) => row[k]))
      if (exact.some((v) => v !== 0))
        expect(correlation(exact, estimate), `${names[f]} ${k}`).toBeGreaterThan(0.9)
    }
})

test('features are standardised, values follow from them, and seeds differ', () => {
  const { seen, values } = environment(1)
  const empty = seen.map((rows) => {
    const columns = rows[0].map((_, k) => rows.map((row) => row[k]))
    const some = columns.filter((column) => column.some((v) => v !== 0))
    for (const column of some) {
      expect(average(column)).toBeCloseTo(0, 9)
      expect(average(column.map((v) => v * v))).toBeCloseTo(1, 9)
    }
    return columns.length - some.length
  })
  // The machine is never in state 1 or 2 with the other one as the last: two actions of each.
  expect(empty).toEqual(names.map((name) => (name === 'reward-machine' ? 4 : 0)))
  expect(seen.map((rows) => rows.length)).toEqual(names.map(() => pool))
  expect(Math.max(...values[names.indexOf('nonlinear')])).toBeLessThanOrEqual(0)
  const formulas = seen[names.indexOf('temporal-logic')]
  const value = values[names.indexOf('temporal-logic')]
  expect(formulas[0].some((_, k) => formulas.every((row, r) => row[k] === value[r]))).toBe(true)
  expect(environment(1).values).toEqual(values)
  expect(environment(2).values).not.toEqual(values)
})
