import { scoreLimits } from './attention.ts'
import { attentionBlocks, rowLength } from './blockwise-attention.ts'
import { layOut, padded, wantedTokens } from './batches.ts'
import type { Batch, Wanted } from './batches.ts'

/**
 * As `makeBatches`, with several sequences in rows of the fixed length `row`, which the longest first fill where there is room first
 * (first-fit decreasing, Johnson 1973: at most 11/9 of the fewest rows, and one). The rest of a row is padding, also of a row that is the only
 * one. Sequences that are longer than a row are padded as without packing, in batches of their own.
 *
 * @param rowsOf how many rows of a length a batch may have, and whether they are packed.
 */
export function makePackedBatches(
  sequences: readonly Int32Array[],
  row: number,
  rowsOf: (time: number, packed: boolean) => number,
  predict: (source: number, index: number) => boolean,
): Batch[] {
  const wanted = wantedTokens(sequences, predict)
  const longer = wanted.filter(({ time }) => time > row)
  const batches = padded(longer, sequences, (time) => rowsOf(time, false))
  const rows = firstFit(wanted.slice(longer.length), row)
  const time = rowLength(row)
  const blocks = attentionBlocks(time)
  for (let start = 0; start < rows.length;) {
    const members = rows.slice(start, start + rowsOf(time, true))
    start += members.length
    batches.push({ ...layOut(members, time, sequences), blocks, packed: true })
  }
  return batches
}

function firstFit(order: readonly Wanted[], row: number): Wanted[][] {
  const rows: { members: Wanted[]; room: number }[] = []
  for (const wanted of order) {
    let found = rows.find(({ room }) => room >= wanted.time)
    if (found === undefined) rows.push((found = { members: [], room: row }))
    found.members.push(wanted)
    found.room -= wanted.time
  }
  return rows.map(({ members }) => members)
}

/**
 * `scoreLimits` [count, time, time] of packed rows: a token sees those of its own sequence up to itself. A token of the padding sees
 * itself alone, as its position 0 says.
 */
export function packedLimits({ positions, time }: Pick<Batch, 'positions' | 'time'>): Float32Array {
  const limits = new Float32Array(positions.length * time).fill(scoreLimits.hidden)
  for (const [i, position] of positions.entries()) {
    const own = i * time + (i % time)
    limits.fill(scoreLimits.visible, own - position, own + 1)
  }
  return limits
}
