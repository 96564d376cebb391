import { expect, test } from 'vitest'
import { createRandom } from '../../engine/random/index.ts'
import type { Episode } from '../episode/types.ts'
import { byKind, inOrder } from './demonstration-source.ts'
import type { DemonstrationBatch } from './demonstration-source.ts'

const episodes = ['copy', 'copy', 'copy', 'move', 'move', 'read'].map(
  (kind, at) => ({ id: `${kind}/${at}`, kind }) as unknown as Episode,
)
const orderOf = (...key: (string | number)[]) => createRandom(3, ...key)
const namesOf = ({ episodes }: DemonstrationBatch): string[] => episodes.map(({ id }) => id)

test('in order, each pass has every demonstration once', async () => {
  const source = inOrder(episodes, 4, (epoch) => orderOf(epoch))
  const batches: DemonstrationBatch[] = []
  for (const step of [0, 1, 2, 3]) batches.push(await source.batch(step))
  expect(batches.map(({ epoch }) => epoch)).toEqual([0, 0, 1, 1])
  expect(batches.map((batch) => namesOf(batch).length)).toEqual([4, 2, 4, 2])
  expect([...namesOf(batches[0]), ...namesOf(batches[1])].sort()).toEqual(episodes.map(({ id }) => id).sort())
})

test('by kind, a batch has the kinds in the shares of their weights, whatever there is of each', async () => {
  const kindWeights = { copy: 1, move: 2, read: 3 }
  const source = byKind(episodes, { batch: 12, kindWeights, orderOf })
  for (const step of [0, 1, 2]) {
    const batch = await source.batch(step)
    const kinds = batch.episodes.map(({ kind }) => kind)
    for (const [kind, weight] of Object.entries(kindWeights))
      expect(kinds.filter((name) => name === kind)).toHaveLength(2 * weight)
    // Within a kind they take turns: each of the two comes twice.
    const moves = namesOf(batch).filter((id) => id.startsWith('move'))
    expect(new Set(moves).size).toBe(2)
    expect(namesOf(await source.batch(step))).toEqual(namesOf(batch))
  }
})

test('a kind without a weight is left out, and nothing is left without any', async () => {
  const source = byKind(episodes, { batch: 5, kindWeights: { move: 1 }, orderOf })
  expect((await source.batch(0)).episodes.every(({ kind }) => kind === 'move')).toBe(true)
  expect(byKind(episodes, { batch: 5, kindWeights: {}, orderOf }).isEmpty).toBe(true)
})
