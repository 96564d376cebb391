import type { KeyValueCache } from './key-value-cache.ts'

/** Where a row of a sampling call lives and what it starts from. */
export interface SlotPlan {
  slot: number
  /** Index of the row with the same prompt whose first distribution and cache this one copies. */
  leader?: number
}

/** Shorter common beginnings are not worth a copy. */
const worthwhile = 8

/**
 * Gives each prompt a slot among the first `prompts.length`, holding as much of its beginning as an earlier row left:
 * the longest match takes the slot itself, further prompts with the same match get a copy, and prompts equal to
 * another's without a slot of their own wait for that one (`leader`). At least one token of each prompt is left to
 * be read, since its distribution is needed. The slots must be reserved.
 */
export function planSlots(cache: KeyValueCache, prompts: readonly Int32Array[]): SlotPlan[] {
  const matches = prompts.map((prompt) => bestMatch(cache, prompt))
  const order = prompts.map((_, i) => i).sort((a, b) => matches[b].length - matches[a].length || a - b)
  const owner = new Map<number, number>()
  const leaders = new Map<string, number>()
  const plans: SlotPlan[] = prompts.map(() => ({ slot: -1 }))
  const names = prompts.map((prompt) => prompt.join())
  for (const i of order) {
    const { slot, length } = matches[i]
    const claims = length >= worthwhile && !owner.has(slot)
    if (claims) {
      owner.set(slot, i)
      plans[i].slot = slot
    } else {
      const leader = leaders.get(names[i])
      if (leader !== undefined) plans[i].leader = leader
    }
    if (!leaders.has(names[i])) leaders.set(names[i], i)
  }
  moveIntoRange(cache, plans, owner, prompts.length)
  placeTheRest(plans, order)
  // Copies come before anything is cut off their sources.
  for (const [i, plan] of plans.entries()) {
    const { slot, length } = matches[i]
    if (plan.leader !== undefined || owner.get(slot) === i) continue
    const source = length >= worthwhile ? plans[owner.get(slot)!].slot : -1
    if (source >= 0) cache.copy(source, plan.slot, length)
    else cache.truncate(plan.slot, 0)
  }
  for (const [i, plan] of plans.entries()) {
    if (owner.get(matches[i].slot) === i) cache.truncate(plan.slot, matches[i].length)
  }
  return plans
}

function bestMatch(cache: KeyValueCache, prompt: Int32Array): { slot: number; length: number } {
  const best = { slot: -1, length: 0 }
  for (let slot = 0; slot < cache.slots; slot++) {
    const kept = cache.tokens(slot)
    const limit = Math.min(kept.length, prompt.length - 1)
    if (limit <= best.length) continue
    let length = 0
    while (length < limit && kept[length] === prompt[length]) length++
    if (length > best.length) Object.assign(best, { slot, length })
  }
  return best
}

/** Swaps claimed slots beyond the range with unclaimed ones within. */
function moveIntoRange(
  cache: KeyValueCache,
  plans: SlotPlan[],
  owner: Map<number, number>,
  count: number,
): void {
  let free = 0
  for (const [slot, i] of owner) {
    if (slot < count) continue
    while (owner.has(free)) free++
    cache.swap(slot, free)
    plans[i].slot = free++
  }
}

/** Rows that will be read get the lowest free slots, those that only copy the ones behind. */
function placeTheRest(plans: SlotPlan[], order: readonly number[]): void {
  const taken = new Set(plans.map(({ slot }) => slot))
  let free = 0
  const place = (i: number): void => {
    while (taken.has(free)) free++
    plans[i].slot = free++
  }
  const rest = order.filter((i) => plans[i].slot < 0)
  for (const i of rest.filter((each) => plans[each].leader === undefined)) place(i)
  for (const i of rest.filter((each) => plans[each].leader !== undefined)) place(i)
}
