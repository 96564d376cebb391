import type { Algebra, Expression } from './expression.ts'

/** The text of every token, as plain data that can be sent to threads. */
export interface TokenTexts {
  /** The texts concatenated, in UTF-8. */
  bytes: Uint8Array
  /** Offset of each text; one more entry than tokens. */
  starts: Int32Array
  /** 1 for tokens without text. */
  markers: Uint8Array
}

/** Texts by token; undefined for markers. */
export function packTexts(texts: readonly (Uint8Array | undefined)[]): TokenTexts {
  const starts = new Int32Array(texts.length + 1)
  texts.forEach((text, id) => (starts[id + 1] = starts[id] + (text?.length ?? 0)))
  const bytes = new Uint8Array(starts[texts.length])
  texts.forEach((text, id) => bytes.set(text ?? [], starts[id]))
  return { bytes, starts, markers: Uint8Array.from(texts, (text) => Number(text === undefined)) }
}

/** The text of a token in UTF-8; empty for markers and for ids without text. */
export function textOf({ bytes, starts }: TokenTexts, id: number): Uint8Array {
  return id + 1 < starts.length ? bytes.subarray(starts[id], starts[id + 1]) : new Uint8Array()
}

/** Tokens sorted by text, so that those with a common prefix are adjacent. */
interface TokenOrder {
  readonly size: number
  readonly ids: Int32Array
  readonly texts: readonly Uint8Array[]
  /** Number of bytes that each shares with the previous one. */
  readonly shared: Int32Array
  readonly markers: readonly number[]
}

export function orderTokens(texts: TokenTexts): TokenOrder {
  const size = texts.markers.length
  const all = Array.from({ length: size }, (_, id) => textOf(texts, id))
  const withText = all.map((_, id) => id).filter((id) => texts.markers[id] === 0 && all[id].length > 0)
  withText.sort((a, b) => Buffer.compare(all[a], all[b]))
  const shared = withText.map((id, i) => {
    const [text, before] = [all[id], i === 0 ? new Uint8Array() : all[withText[i - 1]]]
    let length = 0
    while (length < text.length && length < before.length && text[length] === before[length]) length++
    return length
  })
  return {
    size,
    ids: Int32Array.from(withText),
    texts: withText.map((id) => all[id]),
    shared: Int32Array.from(shared),
    markers: all.map((_, id) => id).filter((id) => texts.markers[id] === 1),
  }
}

/** The tokens that are allowed in a state, by how many symbols are needed after them to end. */
export interface TokenMask {
  /**
   * A bit for each token after which `length` symbols suffice. Each mask includes the previous ones; the last has all
   * tokens.
   */
  levels: readonly { length: number; bits: Uint32Array }[]
}

export function tokenMask(
  { size, ids, texts, shared, markers }: TokenOrder,
  algebra: Algebra,
  state: Expression,
): TokenMask {
  const words = Math.ceil(size / 32)
  const byLength = new Map<number, Uint32Array>()
  const allow = (id: number, after: Expression): void => {
    const length = algebra.shortest(after)
    let bits = byLength.get(length)
    if (bits === undefined) byLength.set(length, (bits = new Uint32Array(words)))
    bits[id >> 5] |= 1 << (id & 31)
  }
  /** The state after each number of bytes; from `dead` on there is none. */
  const states = [state]
  let dead = Infinity
  for (let i = 0; i < ids.length; i++) {
    if (shared[i] >= dead) continue
    dead = Infinity
    const text = texts[i]
    let depth = shared[i]
    for (; depth < text.length; depth++) {
      const after = algebra.derivative(states[depth], text[depth])
      if (after === algebra.nothing) {
        dead = depth + 1
        break
      }
      states[depth + 1] = after
    }
    if (depth === text.length) allow(ids[i], states[depth])
  }
  for (const id of markers) {
    const after = algebra.derivative(state, 256 + id)
    if (after !== algebra.nothing) allow(id, after)
  }
  const levels = [...byLength].map(([length, bits]) => ({ length, bits })).sort((a, b) => a.length - b.length)
  for (let level = 1; level < levels.length; level++)
    for (let word = 0; word < words; word++) levels[level].bits[word] |= levels[level - 1].bits[word]
  return { levels }
}
