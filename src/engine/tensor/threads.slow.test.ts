import { expect, test } from 'vitest'
import { compile, gather, gradients, mul, sum, takeAlong } from './index.ts'
import type { HostTensor } from './index.ts'

// ScatterND has a race on equal indices. The operator that the engine uses must not.
test.each([1, 2, 4])('equal indices give the same sums in 50 runs with %i threads', async (threads) => {
  const rows = 4096
  const width = 64
  const program = await compile(
    {
      table: { shape: ['V', width] },
      ids: { shape: ['N'], dtype: 'int32' },
      scores: { shape: ['N', width] },
      picks: { shape: ['N'], dtype: 'int32' },
    },
    ({ table, ids, scores, picks }) => {
      const loss = sum(mul(takeAlong(mul(gather(table, ids), scores), picks), takeAlong(scores, picks)))
      const [dTable, dScores] = gradients(loss, [table, scores])
      return { dTable, dScores }
    },
    { threads },
  )
  const values = (length: number) => Float32Array.from({ length }, (_, i) => ((i * 37) % 101) / 64)
  const feeds: Record<string, HostTensor> = {
    table: { data: values(7 * width), shape: [7, width] },
    ids: { data: Int32Array.from({ length: rows }, (_, i) => (i * i) % 7), shape: [rows] },
    scores: { data: values(rows * width), shape: [rows, width] },
    picks: { data: Int32Array.from({ length: rows }, (_, i) => (i * 5) % 3), shape: [rows] },
  }
  // d/d table[v, p] = sum over rows with id v and pick p of score^2; d/d score[n, p] = 2 table score
  const dTable = new Float64Array(7 * width)
  const dScores = new Float64Array(rows * width)
  for (let n = 0; n < rows; n++) {
    const pick = feeds.picks.data[n]
    const score = feeds.scores.data[n * width + pick]
    dTable[feeds.ids.data[n] * width + pick] += score * score
    dScores[n * width + pick] = 2 * feeds.table.data[feeds.ids.data[n] * width + pick] * score
  }
  for (let run = 0; run < 50; run++) {
    const results = await program.run(feeds)
    const distance = (a: ArrayLike<number>, b: Float64Array) =>
      b.reduce((worst, value, i) => Math.max(worst, Math.abs(a[i] - value) / (1 + Math.abs(value))), 0)
    expect(distance(results.dTable.data, dTable)).toBeLessThan(1e-5)
    expect(distance(results.dScores.data, dScores)).toBeLessThan(1e-6)
  }
  await program.release()
})
