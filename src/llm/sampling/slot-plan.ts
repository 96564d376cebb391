import type { Beginning, KeyValueCache } from './key-value-cache.ts'

/** Where a row of a sampling call starts from. */
export interface RowPlan extends Beginning {
  /** Index of an earlier row with the same prompt, whose first distribution and cache this one copies. */
  leader?: number
}

/** Shorter common beginnings are not worth a copy. */
const worthwhile = 8

/**
 * For each prompt the row that an earlier call left with the longest common beginning; of equal prompts only the first
 * is read. At least one token of each prompt is left to be read, since its distribution is needed.
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
 * Gives rows places behind the first `active` slots, which stay as they are, each with the beginning it starts from; in what is free
 * where there is enough of it, else laid out anew in up to `mostEnvs` slots, with what other slots remember as far as there is room.
 */
export function joinRows(
  cache: KeyValueCache,
  active: number,
  beginnings: readonly Beginning[],
  capacity: number,
  mostEnvs: number,
): void {
  const needed = active + beginnings.length
  if (needed > cache.slots || capacity > cache.capacity) {
    const others = Array.from(cache.lengths, (length, slot) => ({ slot, length }))
    const remembered = others.slice(active).filter(({ slot }) => beginnings.every((b) => b.slot !== slot))
    const empty = Array.from({ length: needed }, () => ({ slot: 0, length: 0 }))
    const all = [...others.slice(0, active), ...beginnings, ...remembered, ...empty]
    cache.arrange(all.slice(0, Math.max(needed, mostEnvs)), Math.max(capacity, cache.capacity))
    return
  }
  /** Which slot's content lies where. */
  const content = Array.from({ length: cache.slots }, (_, slot) => slot)
  const claimed = new Set<number>()
  // What free slots hold is moved to the first row that starts from it, before anything is written.
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
