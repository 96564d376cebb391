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
