/** Mean and variance of columns of rows that come bit by bit (Chan et al. 1983). */
export interface RunningMoments {
  /** Sees rows [rows, columns]. */
  update(values: ArrayLike<number>, rows: number): void
  readonly mean: Float64Array
  /** Standard deviation of a column; 1 before anything was seen. */
  deviation(column: number): number
  state(): unknown
  restore(state: unknown): void
}

export function runningMoments(columns: number): RunningMoments {
  const mean = new Float64Array(columns)
  /** Sums of squared distances from the mean. */
  const squares = new Float64Array(columns)
  let count = 0
  return {
    mean,
    update(values, rows) {
      for (let r = 0; r < rows; r++) {
        count++
        for (let c = 0; c < columns; c++) {
          const change = values[r * columns + c] - mean[c]
          mean[c] += change / count
          squares[c] += change * (values[r * columns + c] - mean[c])
        }
      }
    },
    deviation: (column) => (count < 2 ? 1 : Math.sqrt(squares[column] / count)),
    state: () => ({ mean: mean.slice(), squares: squares.slice(), count }),
    restore(saved) {
      const state = saved as { mean: Float64Array; squares: Float64Array; count: number }
      mean.set(state.mean)
      squares.set(state.squares)
      count = state.count
    },
  }
}
