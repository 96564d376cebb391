import { maskedScore } from './attention.ts'
import { headWidth } from './config.ts'
import type { TransformerConfig } from './config.ts'

/** Where the new keys or values of one program run lie: [rows, kvHeads, chunk, width]. */
export interface NewRows {
  keys: readonly Float32Array[]
  values: readonly Float32Array[]
  chunk: number
}

/**
 * Keys and values of the tokens that each slot has read, as the extend program is fed them: per layer
 * [slots, kvHeads, capacity, width], so that the first n slots are a view. A slot's row remains after its use,
 * until it is overwritten, in case a later prompt goes on from it.
 */
export interface KeyValueCache {
  readonly slots: number
  readonly capacity: number
  readonly keys: readonly Float32Array[]
  readonly values: readonly Float32Array[]
  /** Additive [slots, capacity]: 0 on cached positions. */
  readonly mask: Float32Array
  /** Number of tokens cached in each slot. */
  readonly lengths: Int32Array
  tokens(slot: number): Int32Array
  /** Makes room, keeping what is there. */
  reserve(slots: number, capacity: number): void
  /** Keeps the first `length` tokens of a slot. */
  truncate(slot: number, length: number): void
  /** The first `length` tokens of one slot become the content of another. */
  copy(from: number, to: number, length: number): void
  swap(a: number, b: number): void
  /** Adds the first `tokens.length` positions of row `row` of a run. */
  append(slot: number, tokens: ArrayLike<number>, run: NewRows, row: number): void
  clear(): void
}

/** Bytes that one cached token takes. */
export function bytesPerToken(config: TransformerConfig): number {
  return config.num_hidden_layers * 2 * config.num_key_value_heads * headWidth(config) * 4
}

export function createKeyValueCache(config: TransformerConfig): KeyValueCache {
  const heads = config.num_key_value_heads
  const width = headWidth(config)
  const window = config.max_position_embeddings
  const layers = config.num_hidden_layers
  let slots = 0
  let capacity = 0
  let keys: Float32Array[] = []
  let values: Float32Array[] = []
  let mask = new Float32Array(0)
  let lengths = new Int32Array(0)
  let tokens = new Int32Array(0)

  const arrays = (): Float32Array[] => [...keys, ...values]

  function setLength(slot: number, length: number): void {
    const row = slot * capacity
    mask.fill(0, row, row + length)
    mask.fill(maskedScore, row + length, row + capacity)
    lengths[slot] = length
  }

  /** Calls with the ranges of the first `length` tokens: one a head, each contiguous. */
  function eachHead(
    slot: number,
    length: number,
    visit: (start: number, size: number, head: number) => void,
  ): void {
    for (let head = 0; head < heads; head++)
      visit((slot * heads + head) * capacity * width, length * width, head)
  }

  function appendRows(
    array: Float32Array,
    source: Float32Array,
    slot: number,
    row: number,
    at: number,
    count: number,
    chunk: number,
  ): void {
    const size = count * width
    for (let head = 0; head < heads; head++) {
      const to = ((slot * heads + head) * capacity + at) * width
      const from = (row * heads + head) * chunk * width
      for (let i = 0; i < size; i++) array[to + i] = source[from + i]!
    }
  }

  return {
    get slots() {
      return slots
    },
    get capacity() {
      return capacity
    },
    get keys() {
      return keys
    },
    get values() {
      return values
    },
    get mask() {
      return mask
    },
    get lengths() {
      return lengths
    },
    tokens: (slot) => tokens.subarray(slot * window, slot * window + lengths[slot]),
    reserve(wantedSlots, wantedCapacity) {
      if (wantedSlots <= slots && wantedCapacity <= capacity) return
      const newSlots = Math.max(slots, wantedSlots)
      const newCapacity = Math.max(capacity, wantedCapacity)
      const enlarge = (old: Float32Array): Float32Array => {
        const made = new Float32Array(newSlots * heads * newCapacity * width)
        for (let slot = 0; slot < slots; slot++) {
          eachHead(slot, lengths[slot], (start, size, head) =>
            made.set(old.subarray(start, start + size), (slot * heads + head) * newCapacity * width),
          )
        }
        return made
      }
      if (slots === 0) {
        const empty = () => new Float32Array(newSlots * heads * newCapacity * width)
        keys = Array.from({ length: layers }, empty)
        values = Array.from({ length: layers }, empty)
      } else {
        keys = keys.map(enlarge)
        values = values.map(enlarge)
      }
      const oldLengths = lengths
      const oldTokens = tokens
      slots = newSlots
      capacity = newCapacity
      mask = new Float32Array(slots * capacity)
      lengths = new Int32Array(slots)
      tokens = new Int32Array(slots * window)
      tokens.set(oldTokens)
      for (let slot = 0; slot < slots; slot++) setLength(slot, oldLengths[slot] ?? 0)
    },
    truncate: setLength,
    copy(from, to, length) {
      for (const array of arrays()) {
        eachHead(from, length, (start, size, head) =>
          array.copyWithin((to * heads + head) * capacity * width, start, start + size),
        )
      }
      tokens.copyWithin(to * window, from * window, from * window + length)
      setLength(to, length)
    },
    swap(a, b) {
      if (a === b) return
      const length = Math.max(lengths[a], lengths[b])
      for (const array of arrays()) {
        eachHead(a, length, (start, size, head) => {
          const other = (b * heads + head) * capacity * width
          const held = array.slice(start, start + size)
          array.copyWithin(start, other, other + size)
          array.set(held, other)
        })
      }
      const held = tokens.slice(a * window, (a + 1) * window)
      tokens.copyWithin(a * window, b * window, (b + 1) * window)
      tokens.set(held, b * window)
      const lengthOfA = lengths[a]
      setLength(a, lengths[b])
      setLength(b, lengthOfA)
    },
    append(slot, added, run, row) {
      const count = added.length
      const at = lengths[slot]
      for (let layer = 0; layer < layers; layer++) {
        appendRows(keys[layer], run.keys[layer], slot, row, at, count, run.chunk)
        appendRows(values[layer], run.values[layer], slot, row, at, count, run.chunk)
      }
      tokens.set(added, slot * window + at)
      lengths[slot] = at + count
      mask.fill(0, slot * capacity + at, slot * capacity + at + count)
    },
    clear() {
      slots = 0
      capacity = 0
      keys = []
      values = []
      mask = new Float32Array(0)
      lengths = new Int32Array(0)
      tokens = new Int32Array(0)
    },
  }
}
