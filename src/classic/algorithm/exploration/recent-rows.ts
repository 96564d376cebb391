/** Rows gathered until there are enough for an update. */
export interface RecentRows {
  readonly data: Float32Array
  /** Adds rows; true when it is full. What does not fit is left out. */
  add(rows: Float32Array, count: number): boolean
  clear(): void
  state(): unknown
  restore(state: unknown): void
}

export function recentRows(capacity: number, width: number): RecentRows {
  const data = new Float32Array(capacity * width)
  let size = 0
  return {
    data,
    add(rows, count) {
      const taken = Math.min(count, capacity - size)
      for (let i = 0; i < taken * width; i++) data[size * width + i] = rows[i]
      size += taken
      return size === capacity
    },
    clear() {
      size = 0
    },
    state: () => ({ data: data.slice(), size }),
    restore(saved) {
      const state = saved as { data: Float32Array; size: number }
      data.set(state.data)
      size = state.size
    },
  }
}
