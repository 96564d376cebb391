import type { TrainingSequence } from '../episode/types.ts'

/** Rows of similar length, padded to the longest, with the positions whose next token is predicted. */
export interface Batch {
  /** Index of each row in the sequences given. */
  sources: number[]
  time: number
  /** [rows, time], 0 where padded. */
  tokens: Int32Array
  /** Flat positions r * time + t whose next token counts, in order. */
  rows: Int32Array
  /** For each of `rows`: its sequence, and the index of the predicted token in it. */
  predicted: { source: number; index: number }[]
  targets: Int32Array
}

/**
 * Groups sequences into batches of at most `budget` tokens, padding included (one sequence alone may exceed it), or of as many rows
 * as `budget` says for the length of the longest.
 * `predict(sequence, index)` says which tokens count; a row ends before the last of them, and a sequence with none
 * is left out. The order depends on lengths and indices only.
 */
export function makeBatches(
  sequences: readonly Int32Array[],
  budget: number | ((time: number) => number),
  predict: (source: number, index: number) => boolean,
): Batch[] {
  const wanted = sequences.map((tokens, source) => {
    const indices: number[] = []
    for (let index = 1; index < tokens.length; index++) if (predict(source, index)) indices.push(index)
    return { source, indices, time: indices.at(-1) ?? 0 }
  })
  const rowsOf =
    typeof budget === 'number' ? (time: number) => Math.max(1, Math.floor(budget / time)) : budget
  const order = wanted.filter(({ time }) => time > 0).sort((a, b) => b.time - a.time || a.source - b.source)
  const batches: Batch[] = []
  let start = 0
  while (start < order.length) {
    const time = order[start].time
    const members = order.slice(start, start + rowsOf(time))
    start += members.length
    const tokens = new Int32Array(members.length * time)
    const rows: number[] = []
    const predicted: Batch['predicted'] = []
    const targets: number[] = []
    for (const [row, member] of members.entries()) {
      const sequence = sequences[member.source]
      tokens.set(sequence.subarray(0, member.time), row * time)
      for (const index of member.indices) {
        rows.push(row * time + index - 1)
        predicted.push({ source: member.source, index })
        targets.push(sequence[index])
      }
    }
    batches.push({
      sources: members.map((member) => member.source),
      time,
      tokens,
      rows: Int32Array.from(rows),
      predicted,
      targets: Int32Array.from(targets),
    })
  }
  return batches
}

/** One per-token array of the training sequences, at the predicted tokens of a batch. */
export function pick(
  batch: Batch,
  sequences: readonly TrainingSequence[],
  of: (s: TrainingSequence) => Float32Array,
) {
  return Float32Array.from(batch.predicted, ({ source, index }) => of(sequences[source])[index])
}

/** The inverse of `batch.rows`: for every flat position its place among the rows, or their number where it has none. */
export function inverseRows(batch: Batch): Int32Array {
  const inverse = new Int32Array(batch.tokens.length).fill(batch.rows.length)
  batch.rows.forEach((position, place) => (inverse[position] = place))
  return inverse
}
