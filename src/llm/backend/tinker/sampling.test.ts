import { expect, test } from 'vitest'
import { sampleGroups } from './sampling.ts'

test('rows of other settings are no part of the same batch, for which the server would wait', () => {
  const options = { maxTokens: 4, stop: [1], temperature: 1, seed: 0 }
  const rows = [
    { prompt: Int32Array.of(5), key: 'a', seed: 7 },
    { prompt: Int32Array.of(6), key: 'b', seed: 8 },
    { prompt: Int32Array.of(7), key: 'c', seed: 7 },
  ]
  const groups = sampleGroups(rows, options, { sampler: 's', extended: true, batch: 'x' })
  expect(groups.map(({ body }) => (body['agoge'] as { batch: unknown }).batch)).toEqual([
    { id: 'x.0', index: 0, count: 2 },
    { id: 'x.1', index: 0, count: 1 },
    { id: 'x.0', index: 1, count: 2 },
  ])
})
