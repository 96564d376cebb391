import type { TrainingSequence } from '../episode/types.ts'
import { scoreLimits } from './attention.ts'
import { attentionBlocks, rowLength } from './blockwise-attention.ts'

/**
 * Rows with the positions whose next token is predicted. Each row holds one sequence, padded to the longest, or several
 * (`packed`).
 */
export interface Batch {
  /** Number of rows, and their length. */
  count: number
  time: number
  /** [count, time], 0 for padding. */
  tokens: Int32Array
  /** [count, time]: position of each token in its sequence, 0 for padding. */
  positions: Int32Array
  /** Number of blocks into which attention splits a row; 1 = no split. */
  blocks: number
  /** Whether rows hold several sequences, isolated from each other. */
  packed: boolean
  /** Flat positions r * time + t whose next token counts, in order. */
  rows: Int32Array
  /** For each of `rows`: its sequence, and the index of the predicted token in it. */
  predicted: { source: number; index: number }[]
  targets: Int32Array
}

/** What to compute for a sequence. */
interface Wanted {
  source: number
  /** Indices of the predicted tokens. */
  indices: number[]
  /** Number of tokens to read: those before the last predicted one. */
  time: number
}

/**
 * Groups sequences into batches of at most `budget` tokens, padding included, or of as many rows as `budget` returns
 * for the length of the longest. A single longer sequence gets a batch of its own. `predict(sequence, index)` says
 * which tokens count. A row ends before the last of them, and a sequence without any is left out. The order depends
 * only on lengths and indices.
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

/** What to compute for each sequence, the longest first. */
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

/** One row per sequence, the longest first, padded to the longest of their batch. */
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

/** Rows of length `time`, each with its sequences one after another. */
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

/** The factor of each predicted token's logits. */
export function inverseTemperatures(
  batch: Batch,
  temperatures: readonly (Float32Array | undefined)[] = [],
): Float32Array {
  return Float32Array.from(batch.predicted, ({ source, index }) => 1 / (temperatures[source]?.[index] ?? 1))
}

/** The inverse of `batch.rows`: for every flat position its index in `rows`, or the number of rows if it has none. */
export function inverseRows(batch: Batch): Int32Array {
  const inverse = new Int32Array(batch.tokens.length).fill(batch.rows.length)
  batch.rows.forEach((position, place) => (inverse[position] = place))
  return inverse
}

/**
 * Like `makeBatches`, but packs several sequences into rows of fixed length `row`, by first-fit decreasing (Johnson
 * 1973: at most 11/9 of the fewest rows, plus one). The rest of a row is padding, even for a single row. Longer
 * sequences are padded as without packing, in batches of their own.
 *
 * @param rowsOf returns how many rows of a length a batch may have; takes the length and whether rows are packed.
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
 * `scoreLimits` [count, time, time] of packed rows: a token sees its own sequence up to itself. A padding token sees
 * only itself, as its position 0 says.
 */
export function packedLimits({ positions, time }: Pick<Batch, 'positions' | 'time'>): Float32Array {
  const limits = new Float32Array(positions.length * time).fill(scoreLimits.hidden)
  for (const [i, position] of positions.entries()) {
    const own = i * time + (i % time)
    limits.fill(scoreLimits.visible, own - position, own + 1)
  }
  return limits
}
