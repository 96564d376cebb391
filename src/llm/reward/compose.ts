import { AgogeError } from '../../error.ts'
import type { RewardFunction } from './types.ts'

/**
 * The weighted sum of named rewards. Its parts are the weighted values by name; one part that cannot be judged
 * (`null`) leaves the whole unjudged, since a sum over what happened to be judged would be another reward.
 *
 * @example compose({ task: taskReward(), brevity: { weight: 0.1, reward: (e) => -e.usage.sampledTokens / 100 } })
 */
export function compose(
  rewards: Record<string, RewardFunction | { weight: number; reward: RewardFunction }>,
): RewardFunction {
  const entries = Object.entries(rewards).map(([name, entry]) =>
    typeof entry === 'function' ? { name, weight: 1, reward: entry } : { name, ...entry },
  )
  if (entries.length === 0)
    throw new AgogeError('compose needs at least one reward', {
      code: 'bad-reward',
      given: rewards,
      expected: 'a record of reward functions by name',
    })
  return (episode) => {
    const parts: Record<string, number> = {}
    let value = 0
    for (const { name, weight, reward } of entries) {
      const result = reward(episode)
      if (result === null) return null
      parts[name] = weight * (typeof result === 'number' ? result : result.value)
      value += parts[name]
    }
    return { value, parts }
  }
}
