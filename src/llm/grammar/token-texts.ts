/** The text of every token, as plain data that threads can be sent. */
export interface TokenTexts {
  /** The texts one after the other, in UTF-8. */
  bytes: Uint8Array
  /** Where each begins; one more than there are tokens. */
  starts: Int32Array
  /** 1 for tokens that stand for no text. */
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

/** The text of a token in UTF-8; empty for markers, and for ids that have no text. */
export function textOf({ bytes, starts }: TokenTexts, id: number): Uint8Array {
  return id + 1 < starts.length ? bytes.subarray(starts[id], starts[id + 1]) : new Uint8Array()
}
