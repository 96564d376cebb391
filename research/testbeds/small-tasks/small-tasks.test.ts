import { expect, test } from 'vitest'
import { outcomesOf, valueIteration } from 'agoge/classic'
import { createParameters, createRandom } from 'agoge/engine'
import { each } from '../each.ts'
import { batch, horizon, objectiveOf, readerOf, specs, width } from './features.ts'
import { batches } from './replay.ts'
import type { Step, Targets } from './replay.ts'
import { actions, drawStart, drawStep, explained, gamma, inputs, scoreOf, smallTasks } from './small-tasks.ts'

const tasks = smallTasks(1)
const [lake] = tasks
const weights = createParameters(specs, createRandom('weights'))

test('states are seen as different rows, and the seed draws the tasks', () => {
  for (const { rows } of tasks) {
    expect(new Set(rows.map((row) => row.join(''))).size).toBe(rows.length)
    for (const row of rows) expect(row).toHaveLength(inputs)
  }
  expect(smallTasks(1)).toEqual(tasks)
  expect(smallTasks(2).map(({ best }) => best)).not.toEqual(tasks.map(({ best }) => best))
})

test.each(tasks)('$name: the best policy scores 1, and the best constant action 0', (task) => {
  const { model, best, base } = task
  expect(scoreOf(task, valueIteration(model, { gamma, tolerance: 1e-6 }).policy)).toBeCloseTo(1, 2)
  const constant = each(actions).map((action) => scoreOf(task, each(model.states).fill(action)))
  expect(Math.max(...constant)).toBeCloseTo(0, 6)
  expect(best).toBeGreaterThan(base)
})

test('a full store sells what is asked for, and pays for what is kept', () => {
  const store = tasks[3]
  const [none] = outcomesOf(store.model, 10, 0)
  expect(none).toMatchObject({ state: 10, reward: -10 })
  expect(outcomesOf(store.model, 10, 0)[8]).toMatchObject({ state: 2, reward: 78 })
  expect(outcomesOf(store.model, 18, 3)[0].state).toBe(19)
})

test('steps are those of the model', () => {
  const random = createRandom('steps')
  const start = drawStart(lake, random)
  expect(lake.model.start[start]).toBe(1)
  const possible = outcomesOf(lake.model, start, 2).map(({ state }) => state)
  for (let k = 0; k < 20; k++) expect(possible).toContain(drawStep(lake, start, 2, random).next)
})

test('features of a table explain all, and none explain nothing', () => {
  const table = (state: number, action: number) => each(64).map((k) => Number(k === state * actions + action))
  expect(explained(lake, table)).toBeGreaterThan(0.95)
  expect(explained(lake, () => [])).toBeCloseTo(0, 6)
})

/** Steps along the states of the lake. The fourth ends an episode, for one of two reasons. */
const steps = each(40).map((k): Step => {
  const ends = k % 4 === 3
  return {
    state: k % 4,
    action: 1,
    reward: k % 4,
    next: ends ? 4 : (k % 4) + 1,
    terminated: ends,
    last: ends,
  }
})
const latents = lake.rows.map((_, state) => each(width).map(() => state))
const targets: Targets = { latents, values: lake.rows.map((_, state) => 10 * state), scale: 2 }

test('targets are returns over three steps that end with the episode', () => {
  const feeds = batches(lake, steps, createRandom('batches'))(targets, 1)
  const expected = [
    // 0, 1 and 2 are paid, then the value of state 3 in units of twice the reward.
    gamma + 2 * gamma ** 2 + gamma ** 3 * 60,
    1 + 2 * gamma + 3 * gamma ** 2,
    2 + 3 * gamma,
    3,
  ]
  for (let row = 0; row < batch; row++) {
    const state = lake.rows.findIndex((seen) =>
      seen.every((x, i) => x === feeds['seen'].data[row * inputs + i]),
    )
    expect(feeds['target'].data[row]).toBeCloseTo(expected[state], 4)
    const masks = each(horizon).map((h) => feeds[`mask${h}`].data[row])
    expect(masks).toEqual([1, Number(state < 3), Number(state < 2)])
    const after = feeds['after0'].data.slice(row * (width + 2), (row + 1) * (width + 2))
    expect(after[0]).toBe(state + 1)
    expect(after[width]).toBeCloseTo(Math.log1p(state), 5)
    expect(after[width + 1]).toBe(Number(state === 3))
  }
})

test.each(['model', 'values', 'nothing', 'none'] as const)(
  '%s: values are read as they are trained, and features learn from what they should',
  async (source) => {
    const objective = await objectiveOf(source)
    const feeds = batches(lake, steps, createRandom('batches'))(targets, 1)
    const { q } = readerOf(lake, source, weights)
    for (let row = 0; row < batch; row++) {
      const state = lake.rows.findIndex((seen) =>
        seen.every((x, i) => x === feeds['seen'].data[row * inputs + i]),
      )
      feeds['target'].data[row] = q(state)[1] + 2
    }
    const lossFor = async () => (await objective.evaluate(weights, feeds)).loss
    if (source !== 'model') expect(await lossFor()).toBeCloseTo(4, 3)
    else expect(await lossFor()).toBeGreaterThan(4)
    const moves = (name: string) => objective.gradient.views[name].some((x) => x !== 0)
    expect(moves('encoder')).toBe(source === 'model' || source === 'values')
    expect(moves('model')).toBe(source === 'model')
    const before = objective.gradient.views['encoder'].slice()
    for (let row = 0; row < batch; row++) feeds['target'].data[row] += row
    await lossFor()
    expect(objective.gradient.views['encoder'].some((x, i) => x !== before[i])).toBe(source === 'values')
    await objective.dispose()
  },
)
