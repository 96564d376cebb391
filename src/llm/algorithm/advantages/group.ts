/**
 * The rewards of one group: episodes of the same task under the same weights. `null` marks a masked member; it
 * takes no part in any statistic and its advantage is 0.
 */
export type GroupRewards = readonly (number | null)[]

/** Mean and unbiased standard deviation (n - 1) of the members that count; deviation 0 below two. */
export function statistics(rewards: GroupRewards): { mean: number; deviation: number; count: number } {
  const values = rewards.filter((reward) => reward !== null)
  const count = values.length
  if (count === 0) return { mean: 0, deviation: 0, count }
  const mean = values.reduce((sum, value) => sum + value, 0) / count
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return { mean, deviation: count < 2 ? 0 : Math.sqrt(squares / (count - 1)), count }
}

/** True where all members that count got the same, so no relative advantage can teach anything. */
export function isUniform(rewards: GroupRewards): boolean {
  const values = rewards.filter((reward) => reward !== null)
  return values.every((value) => value === values[0])
}
