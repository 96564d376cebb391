const blocks = '▁▂▃▄▅▆▇█'

/**
 * Values as a row of block characters, at most `width` of them (neighbours are averaged). The scale runs from `low` to `high`, by default
 * those of the values; what is not a number leaves a gap.
 */
export function sparkline(
  values: readonly number[],
  width: number,
  range: { low?: number; high?: number } = {},
): string {
  const columns = Math.min(width, values.length)
  const averages = Array.from({ length: columns }, (_, i) => {
    const part = values.slice(
      Math.floor((i * values.length) / columns),
      Math.floor(((i + 1) * values.length) / columns),
    )
    return part.reduce((sum, value) => sum + value, 0) / part.length
  })
  const finite = averages.filter(Number.isFinite)
  const low = range.low ?? Math.min(...finite)
  const high = range.high ?? Math.max(...finite)
  return averages
    .map((value) => {
      if (!Number.isFinite(value)) return ' '
      const share = high > low ? (value - low) / (high - low) : 0
      return blocks[Math.max(0, Math.min(blocks.length - 1, Math.floor(share * blocks.length)))]
    })
    .join('')
}
