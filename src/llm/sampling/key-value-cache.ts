import { scoreLimits } from '../model/attention.ts'
import { headWidth, type TransformerConfig } from '../model/config.ts'

/** Location of the new keys or values of one program run: [rows, kvHeads, chunk, width]. */
export interface NewRows {
  keys: readonly Float32Array[]
  values: readonly Float32Array[]
  chunk: number
}

/** The first `length` tokens of a slot. */
interface Beginning {
  slot: number
  length: number
}

/**
 * Keys and values of the tokens that each slot has read, in the layout of the programs: per layer [slots, kvHeads,
 * capacity, width], so that the first n slots are a view. A slot's content remains after its use until the next
 * `arrange`, because a later prompt may continue it.
 */
export interface KeyValueCache {
  readonly slots: number
  readonly capacity: number
  /** The same arrays until rows are arranged again. */
  readonly keys: readonly Float32Array[]
  readonly values: readonly Float32Array[]
  /** [slots, capacity], see `scoreLimits`: the past that a new token sees. */
  readonly limits: Float32Array
  /** Number of tokens cached in each slot. */
  readonly lengths: Int32Array
  tokens(slot: number): Int32Array
  /** Rearranges slots: new slot i holds the prefix of an old slot that `kept[i]` names. Everything else is dropped. */
  arrange(kept: readonly Beginning[], capacity: number): void
  /** Grows the capacity of rows, keeping only the first `slots` slots. */
  grow(capacity: number, slots?: number): void
  /** A number that identifies the content of a slot while it only grows. */
  stamp(slot: number): number
  /** Drops all but the first `length` tokens of a slot. */
  cut(slot: number, length: number): void
  /** Copies the first `length` tokens of one slot to another. */
  copy(from: number, to: number, length: number): void
  swap(a: number, b: number): void
  /** Appends the first `tokens.length` positions of row `row` of a run. */
  append(slot: number, tokens: ArrayLike<number>, run: NewRows, row: number): void
  /** Drops everything; the memory is kept for reuse. */
  clear(): void
}

/** Bytes per cached token. */
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
  // Rows move between arrays: each layer's new array is the one that the previous layer vacated.
  const stores = Array.from({ length: 2 * layers }, () => new Float32Array(0))
  let spare = new Float32Array(0)
  let limits = new Float32Array(0)
  let lengths = new Int32Array(0)
  let tokens = new Int32Array(0)
  let views: readonly Float32Array[] = stores
  let stamps: number[] = []
  let lastStamp = 0

  function setLength(slot: number, length: number): void {
    const row = slot * capacity
    limits.fill(scoreLimits.visible, row, row + length)
    limits.fill(scoreLimits.hidden, row + length, row + capacity)
    lengths[slot] = length
  }

  /** Calls with the ranges of the first `length` tokens: one per head, each contiguous. */
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

  function arrange(kept: readonly Beginning[], wanted: number): void {
    const size = kept.length * heads * wanted * width
    for (const [i, store] of stores.entries()) {
      // Slightly more than needed, since rows grow.
      if (spare.length < size) spare = new Float32Array(Math.ceil(size * 1.1))
      for (const [to, { slot, length }] of kept.entries()) {
        eachHead(slot, length, (start, count, head) =>
          spare.set(store.subarray(start, start + count), (to * heads + head) * wanted * width),
        )
      }
      stores[i] = spare
      spare = store
    }
    const beginnings = new Int32Array(kept.length * window)
    for (const [to, { slot, length }] of kept.entries())
      beginnings.set(tokens.subarray(slot * window, slot * window + length), to * window)
    tokens = beginnings
    slots = kept.length
    capacity = wanted
    views = stores.map((store) => store.subarray(0, size))
    limits = new Float32Array(slots * capacity)
    lengths = new Int32Array(slots)
    for (const [slot, { length }] of kept.entries()) setLength(slot, length)
    stamps = kept.map(() => ++lastStamp)
  }

  return {
    get slots() {
      return slots
    },
    get capacity() {
      return capacity
    },
    get keys() {
      return views.slice(0, layers)
    },
    get values() {
      return views.slice(layers)
    },
    get limits() {
      return limits
    },
    get lengths() {
      return lengths
    },
    tokens: (slot) => tokens.subarray(slot * window, slot * window + lengths[slot]),
    arrange,
    grow(wanted, most = slots) {
      if (wanted <= capacity) return
      arrange(
        Array.from(lengths.subarray(0, most), (length, slot) => ({ slot, length })),
        wanted,
      )
    },
    stamp: (slot) => stamps[slot],
    cut(slot, length) {
      setLength(slot, length)
      stamps[slot] = ++lastStamp
    },
    copy(from, to, length) {
      for (const array of stores) {
        eachHead(from, length, (start, size, head) =>
          array.copyWithin((to * heads + head) * capacity * width, start, start + size),
        )
      }
      tokens.copyWithin(to * window, from * window, from * window + length)
      setLength(to, length)
      stamps[to] = ++lastStamp
    },
    swap(a, b) {
      if (a === b) return
      const length = Math.max(lengths[a], lengths[b])
      for (const array of stores) {
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
      ;[stamps[a], stamps[b]] = [stamps[b], stamps[a]]
    },
    append(slot, added, run, row) {
      const count = added.length
      const at = lengths[slot]
      for (let layer = 0; layer < layers; layer++) {
        appendRows(stores[layer], run.keys[layer], slot, row, at, count, run.chunk)
        appendRows(stores[layers + layer], run.values[layer], slot, row, at, count, run.chunk)
      }
      tokens.set(added, slot * window + at)
      lengths[slot] = at + count
      limits.fill(scoreLimits.visible, slot * capacity + at, slot * capacity + at + count)
    },
    clear() {
      slots = 0
      stamps = []
      views = stores.map((store) => store.subarray(0, 0))
      capacity = 0
      limits = new Float32Array(0)
      lengths = new Int32Array(0)
      tokens = new Int32Array(0)
    },
  }
}

/** Where a row of a sampling call starts. */
interface RowPlan extends Beginning {
  /** Index of an earlier row with the same prompt, whose first distribution and cache this one copies. */
  leader?: number
}

/** Shorter common prefixes are not worth a copy. */
const worthwhile = 8

/**
 * For each prompt, the cached row with the longest common prefix; of equal prompts only the first is read. At least one
 * token of each prompt is left to read, since its distribution is needed.
 */
export function planRows(cache: KeyValueCache, prompts: readonly Int32Array[]): RowPlan[] {
  const leaders = new Map<string, number>()
  return prompts.map((prompt, i) => {
    const name = prompt.join()
    const leader = leaders.get(name)
    if (leader !== undefined) return { slot: 0, length: 0, leader }
    leaders.set(name, i)
    return bestMatch(cache, prompt)
  })
}

function bestMatch(cache: KeyValueCache, prompt: Int32Array): Beginning {
  const best = { slot: 0, length: 0 }
  for (let slot = 0; slot < cache.slots; slot++) {
    const kept = cache.tokens(slot)
    const limit = Math.min(kept.length, prompt.length - 1)
    if (limit <= best.length) continue
    let length = 0
    while (length < limit && kept[length] === prompt[length]) length++
    if (length > best.length) Object.assign(best, { slot, length })
  }
  return best.length < worthwhile ? { slot: 0, length: 0 } : best
}

/**
 * Places rows behind the first `active` slots, which do not move, each with the prefix it starts from. Uses free slots
 * if they have enough capacity. Otherwise rearranges the cache into as many slots as `thatFit` allows and keeps the
 * content of other slots as far as there is memory. Rows as long as before are kept only where all rows fit so.
 *
 * @param capacity that the active and the joining rows need.
 * @param thatFit how many slots of a capacity there is memory for.
 */
export function joinRows(
  cache: KeyValueCache,
  active: number,
  beginnings: readonly Beginning[],
  capacity: number,
  thatFit: (capacity: number) => number,
): void {
  const needed = active + beginnings.length
  if (needed > cache.slots || capacity > cache.capacity) {
    const others = Array.from(cache.lengths, (length, slot) => ({ slot, length }))
    const longest = Math.max(capacity, cache.capacity)
    const wanted = needed <= thatFit(longest) ? longest : capacity
    const remembered = others
      .slice(active)
      .filter(({ slot, length }) => length <= wanted && beginnings.every((b) => b.slot !== slot))
    const empty = Array.from({ length: needed }, () => ({ slot: 0, length: 0 }))
    const all = [...others.slice(0, active), ...beginnings, ...remembered, ...empty]
    cache.arrange(all.slice(0, Math.max(needed, thatFit(wanted))), wanted)
    return
  }
  /** Which content each slot holds. */
  const content = Array.from({ length: cache.slots }, (_, slot) => slot)
  const claimed = new Set<number>()
  // Moves the content of free slots to the first row that starts from it, before anything is written.
  for (const [i, { slot, length }] of beginnings.entries()) {
    if (length === 0 || slot < active || claimed.has(slot)) continue
    claimed.add(slot)
    const [from, to] = [content.indexOf(slot), active + i]
    cache.swap(from, to)
    ;[content[from], content[to]] = [content[to], content[from]]
  }
  const isOwn = (i: number, slot: number): boolean => content[active + i] === slot && claimed.has(slot)
  for (const [i, { slot, length }] of beginnings.entries())
    if (length > 0 && !isOwn(i, slot)) cache.copy(content.indexOf(slot), active + i, length)
  for (const [i, { slot, length }] of beginnings.entries())
    if (length === 0 || isOwn(i, slot)) cache.cut(active + i, length)
}
