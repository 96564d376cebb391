import { inverseTemperature } from './requests.ts'
import type { Distributions, Row } from './requests.ts'
import type { TokenReader } from './token-reader.ts'

/** Most rows, positions and tokens of a run. */
const mostRows = 64
const longestChunk = 128
const mostTokens = 1024

export interface PrefillOptions {
  reader: TokenReader
  window: number
  draw: (row: Row, distributions: Distributions, place: number) => void
  /** Rows may end here, such as those of an aborted call. */
  beforeChunk: () => void
}

/**
 * Reads the rest of the prompts of `readers`, which occupy adjacent slots, longest rest first. Draws the first token of
 * every row, including followers, which have the same prompt as a reader.
 */
export function createPrefill({ reader, window, draw, beforeChunk }: PrefillOptions) {
  const { cache } = reader

  async function readChunk(
    rows: readonly Row[],
    chunk: number,
    followers: ReadonlyMap<Row, readonly Row[]>,
  ): Promise<void> {
    const tokens = new Int32Array(rows.length * chunk)
    const positions = new Int32Array(rows.length * chunk)
    /** Rows that draw their first token, and from which distribution. A prompt is read once for all temperatures. */
    const drawing: { row: Row; source: Row; place: number }[] = []
    const places: number[] = []
    const parts = rows.map((row, i) => {
      const at = cache.lengths[row.slot]
      const part = row.request.prompt.subarray(at, at + chunk)
      tokens.set(part, i * chunk)
      for (let c = 0; c < chunk; c++) positions[i * chunk + c] = Math.min(at + c, window - 1)
      if (at + part.length < row.request.prompt.length) return part
      const drawn = new Map<number, number>()
      for (const member of [...(followers.get(row) ?? []), row]) {
        const scale = inverseTemperature(member.settings)
        if (!drawn.has(scale)) {
          drawn.set(scale, places.length)
          places.push(i * chunk + part.length - 1)
        }
        drawing.push({ row: member, source: row, place: drawn.get(scale)! })
      }
      return part
    })
    // A run must return at least one distribution; one that is not needed is ignored.
    const wanted = Int32Array.from(places.length > 0 ? places : [0])
    const inverseTemperatures = new Float32Array(wanted.length).fill(1)
    for (const { row, place } of drawing) inverseTemperatures[place] = inverseTemperature(row.settings)
    const logits = drawing.some(({ row }) => row.cursor !== undefined)
    const read = await reader.prefill(rows[0].slot, tokens, positions, chunk, wanted, {
      inverseTemperatures,
      logits,
    })
    rows.forEach((row, i) => cache.append(row.slot, parts[i], read.run, i))
    for (const { row, source, place } of drawing) {
      if (row !== source) cache.copy(source.slot, row.slot, source.request.prompt.length)
      draw(row, read, place)
    }
  }

  return async (readers: readonly Row[], followers: ReadonlyMap<Row, readonly Row[]>): Promise<void> => {
    const left = (row: Row): number => row.request.prompt.length - cache.lengths[row.slot]
    const isWanted = (row: Row): boolean =>
      [row, ...(followers.get(row) ?? [])].some(({ finish }) => finish === undefined)
    let from = 0
    while (from < readers.length) {
      const longest = Math.min(longestChunk, left(readers[from]))
      const most = Math.min(mostRows, Math.max(1, Math.floor(mostTokens / longest)))
      const members = readers.slice(from, from + most).filter((row) => 2 * left(row) >= longest)
      from += members.length
      // Only rows with more left than a chunk, which come first, take part in the next round.
      for (let now = members; now.length > 0; now = now.filter((row) => left(row) > 0)) {
        beforeChunk()
        if (now.some(isWanted)) await readChunk(now, Math.min(longestChunk, left(now[0])), followers)
        else break
      }
    }
  }
}
