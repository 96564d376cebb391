import type { TrainingSequence } from '../episode/types.ts'
import { scoreLimits } from './attention.ts'
import { attentionBlocks, rowLength } from './blockwise-attention.ts'

/** Rows with the positions whose next token is predicted: a sequence each, padded to the longest, or several in a row (`packed`). */
export interface Batch {
  /** Its shape: rows, and their length. */
  count: number
  time: number
  /** [count, time], 0 where padded. */
  tokens: Int32Array
  /** [count, time]: the place of each token in its sequence, 0 where padded. */
  positions: Int32Array
  /** Into how many blocks attention cuts a row, 1 where it does not. */
  blocks: number
  /** Whether rows hold several sequences, none of which may see another. */
  packed: boolean
  /** Flat positions r * time + t whose next token counts, in order. */
  rows: Int32Array
  /** For each of `rows`: its sequence, and the index of the predicted token in it. */
  predicted: { source: number; index: number }[]
  targets: Int32Array
}

/** What is to be computed of a sequence. */
interface Wanted {
  source: number
  /** The tokens that are predicted. */
  indices: number[]
  /** How many tokens are read: those before the last predicted one. */
  time: number
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
  const rowsOf =
    typeof budget === 'number' ? (time: number) => Math.max(1, Math.floor(budget / time)) : budget
  return padded(wantedTokens(sequences, predict), sequences, rowsOf)
}

/** What is wanted of the sequences, the longest first. */
function wantedTokens(
  sequences: readonly Int32Array[],
  predict: (source: number, index: number) => boolean,
): Wanted[] {
  const wanted = sequences.map((tokens, source) => {
    const indices: number[] = []
    for (let index = 1; index < tokens.length; index++) if (predict(source, index)) indices.push(index)
    return { source, indices, time: indices.at(-1) ?? 0 }
  })
  return wanted.filter(({ time }) => time > 0).sort((a, b) => b.time - a.time || a.source - b.source)
}

/** A row each, the longest first, padded to the longest of their batch. */
function padded(
  order: readonly Wanted[],
  sequences: readonly Int32Array[],
  rowsOf: (time: number) => number,
): Batch[] {
  const batches: Batch[] = []
  let start = 0
  while (start < order.length) {
    const time = rowLength(order[start].time)
    const blocks = attentionBlocks(time)
    const members = order.slice(start, start + rowsOf(time))
    start += members.length
    const rows = members.map((member) => [member])
    batches.push({ ...layOut(rows, time, sequences), blocks, packed: false })
  }
  return batches
}

/** Rows of length `time`, each with its sequences one behind the other. */
function layOut(
  members: readonly (readonly Wanted[])[],
  time: number,
  sequences: readonly Int32Array[],
): Omit<Batch, 'packed' | 'blocks'> {
  const tokens = new Int32Array(members.length * time)
  const positions = new Int32Array(tokens.length)
  const rows: number[] = []
  const predicted: Batch['predicted'] = []
  const targets: number[] = []
  for (const [row, pieces] of members.entries()) {
    let at = row * time
    for (const piece of pieces) {
      const sequence = sequences[piece.source]
      tokens.set(sequence.subarray(0, piece.time), at)
      for (let t = 0; t < piece.time; t++) positions[at + t] = t
      for (const index of piece.indices) {
        rows.push(at + index - 1)
        predicted.push({ source: piece.source, index })
        targets.push(sequence[index])
      }
      at += piece.time
    }
  }
  return {
    count: members.length,
    time,
    tokens,
    positions,
    rows: Int32Array.from(rows),
    predicted,
    targets: Int32Array.from(targets),
  }
}

/** One per-token array of the training sequences, at the predicted tokens of a batch. */
export function pick(
  batch: Batch,
  sequences: readonly TrainingSequence[],
  of: (s: TrainingSequence) => Float32Array,
) {
  return Float32Array.from(batch.predicted, ({ source, index }) => of(sequences[source])[index])
}

/** What the logits of each predicted token are multiplied by. */
export function inverseTemperatures(
  batch: Batch,
  temperatures: readonly (Float32Array | undefined)[] = [],
): Float32Array {
  return Float32Array.from(batch.predicted, ({ source, index }) => 1 / (temperatures[source]?.[index] ?? 1))
}

/** The inverse of `batch.rows`: for every flat position its place among the rows, or their number where it has none. */
export function inverseRows(batch: Batch): Int32Array {
  const inverse = new Int32Array(batch.tokens.length).fill(batch.rows.length)
  batch.rows.forEach((position, place) => (inverse[position] = place))
  return inverse
}

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
