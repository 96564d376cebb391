import { expect, test } from 'vitest'
import { createRandom } from '../random/index.ts'
import { conv2d, matmul, mean, reshape, square, sub, sum, tanh } from '../tensor/index.ts'
import { compileObjective, type Objective } from './objective.ts'
import { createParameters } from './parameters.ts'
import { createBatch, type BatchMember } from './batch.ts'
import { normalValues } from './layers.ts'

const compileLoss = (batch?: BatchMember): Promise<Objective<'mean'>> =>
  compileObjective<'mean'>({
    name: 'batch test',
    threads: 1,
    batch,
    parameters: { weight: [3, 2] },
    inputs: { x: { shape: ['B', 3] }, y: { shape: ['B', 2] } },
    trace({ weight }, { x, y }) {
      const error = square(sub(tanh(matmul(x, weight)), y))
      return { loss: sum(error), outputs: { mean: mean(error) } }
    },
  })

function dataOf(seed: number, rows: number) {
  const random = createRandom('batch', seed)
  const draw = (...shape: number[]) => ({ data: normalValues(random, shape[0] * shape[1], 1), shape })
  const parameters = createParameters(
    { weight: { shape: [3, 2], initialise: (own) => normalValues(own, 6, 1) } },
    random.split('parameters'),
  )
  return { parameters, feeds: { x: draw(rows, 3), y: draw(rows, 2) } }
}

/** The loss, its mean and the gradient of every seed, each by a member of its own. */
async function evaluateBatched(seeds: readonly number[], rowsOf: (seed: number) => number, calls = 2) {
  const members = createBatch(seeds.length)
  return Promise.all(
    seeds.map(async (seed, i) => {
      const objective = await compileLoss(members[i])
      const { parameters, feeds } = dataOf(seed, rowsOf(seed))
      for (let call = 1; call < calls; call++) await objective.evaluate(parameters, feeds)
      const { loss, outputs } = await objective.evaluate(parameters, feeds)
      members[i].leave()
      await objective.dispose()
      return [loss, outputs.mean.data[0], ...objective.gradient.data]
    }),
  )
}

test('members get the loss and gradient that they get alone, with as many or as few rows as they have', async () => {
  for (const rowsOf of [() => 5, (seed: number) => 4 + (seed % 2)]) {
    const found = await evaluateBatched([1, 2, 3, 4], rowsOf)
    const alone = await compileLoss()
    for (const [i, seed] of [1, 2, 3, 4].entries()) {
      const { parameters, feeds } = dataOf(seed, rowsOf(seed))
      const { loss, outputs } = await alone.evaluate(parameters, feeds)
      const expected = [loss, outputs.mean.data[0], ...alone.gradient.data]
      expect(found[i]).toHaveLength(expected.length)
      expected.forEach((value, k) => expect(found[i][k]).toBeCloseTo(value, 4))
    }
    await alone.dispose()
  }
})

test('the numbers of a member do not depend on the others', async () => {
  const many = await evaluateBatched([1, 2, 3, 4, 5, 6, 7], () => 5)
  const [few] = await evaluateBatched([3, 9], () => 5)
  expect(few).toEqual(many[2])
  const [alone] = await evaluateBatched([3], () => 5)
  expect(alone).toEqual(many[2])
})

test('a member that leaves is not waited for', async () => {
  const members = createBatch(3)
  members[2].leave()
  const [first, second] = await Promise.all(members.slice(0, 2).map((member) => compileLoss(member)))
  const { parameters, feeds } = dataOf(1, 5)
  const waiting = first.evaluate(parameters, feeds)
  const state = await Promise.race([
    waiting.then(() => 'done'),
    new Promise((r) => setTimeout(r, 50, 'waits')),
  ])
  expect(state).toBe('waits')
  members[1].leave()
  expect((await waiting).loss).toBeGreaterThan(0)
  await Promise.all([first.dispose(), second.dispose()])
})

test('a call that fails is an error of every member in it', async () => {
  const members = createBatch(2)
  const objectives = await Promise.all(members.map((member) => compileLoss(member)))
  const { parameters, feeds } = dataOf(1, 5)
  const bad = { ...feeds, y: { ...feeds.y, shape: [2, 5] } }
  const found = await Promise.allSettled(objectives.map((each) => each.evaluate(parameters, bad)))
  for (const each of found)
    expect(each).toMatchObject({ status: 'rejected', reason: { code: 'shape-mismatch' } })
  await Promise.all(objectives.map((each) => each.dispose()))
})

test('a loss whose graph cannot be stacked is computed alone', async () => {
  const members = createBatch(2)
  const objective = await compileObjective({
    name: 'image',
    threads: 1,
    batch: members[0],
    parameters: { kernel: [1, 1, 2, 2] },
    inputs: { x: { shape: [1, 16] } },
    trace: ({ kernel }, { x }) => ({ loss: sum(square(conv2d(reshape(x, [1, 1, 4, 4]), kernel))) }),
  })
  const parameters = createParameters(
    { kernel: { shape: [1, 1, 2, 2], initialise: () => Float32Array.of(1, 0, 0, 0) } },
    createRandom('image'),
  )
  // It does not wait for the other member.
  const { loss } = await objective.evaluate(parameters, {
    x: { data: new Float32Array(16).fill(1), shape: [1, 16] },
  })
  expect(loss).toBeGreaterThan(0)
  await objective.dispose()
})
