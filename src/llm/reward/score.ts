import { AgogeError } from '../../error.ts'
import type { Episode } from '../episode/types.ts'
import type { RewardFunction, Scored } from './types.ts'

/**
 * Applies a reward function. Masked episodes and those that the function cannot judge give `null`.
 *
 * @throws AgogeError where the function returns something that is not a finite number.
 */
export function score(reward: RewardFunction, episode: Episode): Scored | null {
  if (episode.status === 'masked') return null
  const result = reward(episode)
  if (result === null) return null
  const scored = typeof result === 'number' ? { value: result, parts: {} } : result
  if (!Number.isFinite(scored.value))
    throw new AgogeError(`The reward of episode ${episode.id} is not a finite number`, {
      code: 'bad-reward',
      given: scored.value,
      expected: 'a finite number, { value, parts } or null where the episode cannot be judged',
    })
  return scored
}

/** A scorer for evaluation: the mean-able value of an episode, or `null` where it is masked or cannot be judged. */
export function scorer(reward: RewardFunction): (episode: Episode) => number | null {
  return (episode) => score(reward, episode)?.value ?? null
}
