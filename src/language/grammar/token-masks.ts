import type { Algebra, Expression } from './expression.ts'
import { textOf } from './token-texts.ts'
import type { TokenTexts } from './token-texts.ts'

/** Tokens in the order of their texts, so that those with a common beginning stand together. */
export interface TokenOrder {
  readonly size: number
  readonly ids: Int32Array
  readonly texts: readonly Uint8Array[]
  /** How many bytes each shares with the one before. */
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

export interface TokenMask {
  /** A bit for each token that may come next. */
  bits: Uint32Array
  /** Symbols that are needed at most to come to an end after one of them. */
  farthest: number
}

/** The tokens that go on from a state, those only after which `most` symbols are enough to come to an end. */
export function tokenMask(
  { size, ids, texts, shared, markers }: TokenOrder,
  algebra: Algebra,
  state: Expression,
  most = Infinity,
): TokenMask {
  const bits = new Uint32Array(Math.ceil(size / 32))
  let farthest = 0
  const allow = (id: number, after: Expression): void => {
    const length = algebra.shortest(after)
    if (length > most) return
    bits[id >> 5] |= 1 << (id & 31)
    if (length > farthest) farthest = length
  }
  /** After how many bytes which state; bytes from `dead` on lead nowhere. */
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
  return { bits, farthest }
}
