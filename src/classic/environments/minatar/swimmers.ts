/**
 * A list in the state of an environment, in the order of arrival: a count, then five numbers for each entry: column, row,
 * direction (-1 or 1), steps until it moves, steps until it fires.
 */
export interface List {
  /** Index of the count, of the first entry and after the last one. */
  count: number
  start: number
  end: number
}

/** Numbers of an entry. */
export const listSize = 5

/** A list with room for `capacity` entries that begins at index `from` of the state. */
export const listOf = (from: number, capacity: number): List => ({
  count: from,
  start: from + 1,
  end: from + 1 + capacity * listSize,
})

export function emptyList(state: Float64Array, s: number, list: List): void {
  state.fill(0, s + list.count, s + list.end)
}

/** Appends an entry. The environment that begins at `s` has room for as many as can live at once. */
export function addTo(state: Float64Array, s: number, list: List, entry: readonly number[]): void {
  const p = list.start + state[s + list.count] * listSize
  if (p === list.end) return
  state.set(entry, s + p)
  state[s + list.count]++
}

/** Removes entry k. The later ones move up. */
export function removeAt(state: Float64Array, s: number, list: List, k: number): void {
  const p = s + list.start + k * listSize
  const end = s + list.start + state[s + list.count] * listSize
  state.copyWithin(p, p + listSize, end)
  // Equal states have equal numbers, whatever came before.
  state.fill(0, end - listSize, end)
  state[s + list.count]--
}

/** Whether an entry in a row moves in the other direction. */
export function clash(state: Float64Array, s: number, list: List, y: number, direction: number): boolean {
  for (let k = 0; k < state[s + list.count]; k++) {
    const p = s + list.start + k * listSize
    if (state[p + 1] === y && state[p + 2] !== direction) return true
  }
  return false
}
