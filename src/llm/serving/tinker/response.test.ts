import { expect, test } from 'vitest'
import { jsonPieces, toResponse } from './response.ts'

const outputs = (count: number) => ({
  loss_fn_output_type: 'ArrayRecord',
  nothing: undefined,
  loss_fn_outputs: Array.from({ length: count }, (_, i) => ({
    logprobs: { data: Float32Array.of(-i, 0.5), dtype: 'float32', shape: [2] },
  })),
  metrics: { 'loss:sum': 1.5 },
})

test('a long result is sent in pieces, and is the same as in one', async () => {
  for (const count of [0, 1, 300, 20_000]) {
    const response = await toResponse({ json: outputs(count) })
    expect(response.headers.get('content-type')).toBe('application/json')
    const read = (await response.json()) as { loss_fn_outputs: { logprobs: { data: number[] } }[] }
    expect(Object.keys(read)).toEqual(['loss_fn_output_type', 'loss_fn_outputs', 'metrics'])
    expect(read.loss_fn_outputs).toHaveLength(count)
    expect(read.loss_fn_outputs.at(-1)?.logprobs.data).toEqual(count === 0 ? undefined : [1 - count, 0.5])
  }
  let most = 0
  let pieces = 0
  for await (const piece of jsonPieces(outputs(20_000))) {
    most = Math.max(most, piece.length)
    pieces++
  }
  expect(pieces).toBeGreaterThan(10)
  expect(most).toBeLessThan(70_000)
  // Few items may be long, too.
  const few = { sequences: Array.from({ length: 3 }, () => ({ tokens: new Int32Array(50_000) })) }
  const answer = await toResponse({ json: few })
  expect(((await answer.json()) as typeof few).sequences.map(({ tokens }) => tokens.length)).toEqual([
    50_000, 50_000, 50_000,
  ])
})
